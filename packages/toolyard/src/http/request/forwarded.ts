import { BlockList, isIP } from "node:net";
import { OptionError } from "../../core/errors.ts";
import { hostNameOf } from "./host-names.ts";
import type { HttpRequest } from "../wire.ts";

/** Address of a request's caller, and the origin by which it reached this server. */
export interface CallerFacts {
  readonly remoteAddress: string;
  /** `http://host:port`, or with `https`, without the base path. */
  readonly origin: string;
}

/** Reads `X-Forwarded-*` of known proxies only, because any other client could forge them. */
export class ForwardedReader {
  readonly #trusted = new BlockList();
  readonly #trustsAny: boolean;

  constructor(proxies: readonly string[]) {
    this.#trustsAny = proxies.length > 0;
    for (const proxy of proxies) this.#add(proxy);
  }

  read(request: HttpRequest): CallerFacts {
    const peer = plainAddress(request.peerAddress);
    const host = request.header("host") ?? "localhost";
    const own = request.isSecure ? "https" : "http";
    if (!this.#trustsAny || !this.#isTrusted(peer)) return { remoteAddress: peer, origin: `${own}://${host}` };
    const proto = lastOf(request.header("x-forwarded-proto"))?.toLowerCase() ?? own;
    const forwardedHost = lastOf(request.header("x-forwarded-host"));
    const isHost = forwardedHost !== undefined && hostNameOf(forwardedHost) !== undefined;
    return {
      remoteAddress: this.#farthest(peer, request.header("x-forwarded-for")),
      origin: `${proto === "https" ? "https" : "http"}://${isHost ? forwardedHost : host}`,
    };
  }

  // Returns the caller's address: the last one that is not a proxy. Proxies append addresses, so the caller may have
  // forged all addresses before that one.
  #farthest(peer: string, forwarded: string | undefined): string {
    const hops = partsOf(forwarded).map((hop) =>
      plainAddress(hop.replace(/^\[([^\]]+)\](:\d+)?$/, "$1").replace(/^([\d.]+):\d+$/, "$1")),
    );
    let address = peer;
    for (let at = hops.length - 1; at >= 0; at -= 1) {
      const hop = hops[at]!;
      if (isIP(hop) === 0) break;
      address = hop;
      if (!this.#isTrusted(hop)) break;
    }
    return address;
  }

  #isTrusted(address: string): boolean {
    const family = isIP(address);
    return family !== 0 && this.#trusted.check(address, family === 4 ? "ipv4" : "ipv6");
  }

  #add(proxy: string): void {
    const [address = "", bits] = proxy.split("/");
    const family = isIP(address);
    const prefix = bits === undefined ? (family === 4 ? 32 : 128) : Number(bits);
    const isRange = family !== 0 && Number.isInteger(prefix) && prefix >= 0 && prefix <= (family === 4 ? 32 : 128);
    if (!isRange)
      throw new OptionError(
        `\`server.trusted_proxy\` takes addresses and ranges such as "10.0.0.0/8", got ${JSON.stringify(proxy)}.`,
      );
    this.#trusted.addSubnet(address, prefix, family === 4 ? "ipv4" : "ipv6");
  }
}

function partsOf(header: string | undefined): string[] {
  return (header ?? "")
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "");
}

function lastOf(header: string | undefined): string | undefined {
  return partsOf(header).at(-1);
}

/** Returns an IPv4 address of a dual-stack socket without the IPv6 prefix. */
function plainAddress(address: string): string {
  return address.startsWith("::ffff:") && isIP(address.slice(7)) === 4 ? address.slice(7) : address;
}
