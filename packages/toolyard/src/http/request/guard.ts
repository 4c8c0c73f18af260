import { isLoopbackHost, LOOPBACK_NAMES } from "../../core/uris/loopback.ts";
import { hostNameOf, isAddress, isMachineName } from "./host-names.ts";
import { assertNoForeignLoad } from "./own-page.ts";
import { Refusal } from "../answer/refusal.ts";
import type { HttpRequest } from "../wire.ts";
import { firstChars } from "../../core/text/truncate.ts";

export interface GuardOptions {
  readonly host: string;
  readonly allowedHosts: readonly string[];
  readonly corsOrigins: readonly string[];
  readonly publicUrl?: string;
  readonly needsToken: boolean;
}

/**
 * Refuses requests of web pages in a browser on this machine. A page can make its own name resolve to this machine (DNS
 * rebinding); `Host` then contains that name. Therefore only known names are permitted: on loopback, if names are
 * configured, and on any address without a required token. If a token is required, all names are permitted, because
 * such a page does not have the token. `X-Forwarded-Host` is never read here, since such a page could send it. An
 * `Origin` must be that of this server or a configured one: on one machine, each port may belong to another user.
 * Images, scripts and frames of a foreign page have no `Origin`, but browsers send `Sec-Fetch-Site`.
 */
export class Guard {
  readonly #hostNames: ReadonlySet<string>;
  readonly #checksHost: boolean;
  /**
   * True if all addresses and names of this machine are permitted, because clients on other machines may use any of
   * them.
   */
  readonly #acceptsMachine: boolean;
  readonly #origins: ReadonlySet<string>;
  /** Last permitted `Host`. It is cached, because nearly all requests have the same one. */
  #passed: string | undefined;

  constructor({ host, allowedHosts, corsOrigins, publicUrl, needsToken }: GuardOptions) {
    const isLocal = isLoopbackHost(host);
    this.#acceptsMachine = !isLocal && !needsToken;
    const own = isLocal && isAddress(host) ? [host.includes(":") && !host.startsWith("[") ? `[${host}]` : host] : [];
    const named = publicUrl === undefined ? [] : [new URL(publicUrl).hostname];
    // The address or name on which the hub listens is permitted only if all names of this machine are.
    const listened = this.#acceptsMachine ? [host.toLowerCase()] : [];
    this.#hostNames = new Set([
      ...(isLocal || this.#acceptsMachine ? LOOPBACK_NAMES : []),
      ...own,
      ...listened,
      ...named,
      ...allowedHosts,
    ]);
    this.#checksHost = isLocal || !needsToken || allowedHosts.length > 0;
    this.#origins = new Set(corsOrigins);
  }

  /** Throws a 403 for a request that must not be served. `isShared`: pages of every origin may send it. */
  check(request: HttpRequest, isShared = false): void {
    const host = request.header("host");
    const origin = request.header("origin");
    if (!request.target.startsWith("/")) assertOneAuthority(request.target, host);
    if (this.#checksHost) {
      if (host === undefined || host !== this.#passed) this.#checkHost(host);
      // The given text is stored even if it is equal, because comparing identical string objects is fast.
      this.#passed = host;
    }
    if (isShared) return;
    if (origin !== undefined && origin !== "" && !this.#isOriginAllowed(origin, host, request.isSecure)) {
      const quoted = firstChars(origin, MAX_QUOTED);
      throw new Refusal(
        403,
        `Invalid Origin: ${quoted}. Name it in \`server.cors_origins\` if pages of this origin may call.`,
      );
    }
    assertNoForeignLoad(request);
  }

  /** Returns `Access-Control-Allow-Origin` for this origin, or `undefined` if it is not configured. */
  corsOrigin(origin: string | undefined): string | undefined {
    if (origin === undefined || this.#origins.size === 0) return undefined;
    if (this.#origins.has("*")) return "*";
    return this.#origins.has(origin) ? origin : undefined;
  }

  #checkHost(host: string | undefined): void {
    if (host === undefined || host === "") throw new Refusal(403, "Missing Host header");
    const name = hostNameOf(host);
    if (name === undefined) throw new Refusal(403, `Invalid Host header: ${firstChars(host, MAX_QUOTED)}`);
    if (!this.#hostNames.has(name) && !(this.#acceptsMachine && (isAddress(name) || isMachineName(name))))
      throw new Refusal(
        403,
        `Invalid Host: ${firstChars(name, MAX_QUOTED)}. Name it in \`server.allowed_hosts\` if it is yours.`,
      );
  }

  #isOriginAllowed(origin: string, host: string | undefined, isSecure: boolean): boolean {
    if (this.#origins.has("*") || this.#origins.has(origin)) return true;
    // A page that was loaded without encryption may have been changed on the way, so its origin is refused on an
    // encrypted port.
    if (isSecure && !/^https:/i.test(origin)) return false;
    return this.#isOwnOrigin(origin, host);
  }

  #isOwnOrigin(origin: string, host: string | undefined): boolean {
    const [, scheme = "", authority = ""] = /^(https?):\/\/([^/?#@\s]+)$/i.exec(origin) ?? [];
    const name = hostNameOf(authority);
    if (name === undefined) return false;
    // An origin with another port is refused, because the other port may belong to another user.
    if (!isLoopbackHost(name) && this.#hostNames.has(name)) return true;
    return host !== undefined && withPort(host, scheme) === withPort(authority, scheme) && this.#isOwn(name);
  }

  /**
   * Returns true if no other party can make the name resolve to this machine: a configured name, an address, or a name
   * of this machine.
   */
  #isOwn(name: string): boolean {
    return this.#hostNames.has(name) || isAddress(name) || isLoopbackHost(name);
  }
}

/**
 * Throws if the target and `Host` differ: a proxy that forwards an absolute target uses the host of the target instead
 * of `Host`.
 */
function assertOneAuthority(target: string, host: string | undefined): void {
  const authority = /^[a-z][a-z0-9+.-]*:\/\/([^/?#]*)/i.exec(target)?.[1];
  if (authority === undefined || authority.toLowerCase() === host?.toLowerCase()) return;
  throw new Refusal(400, `The target names ${firstChars(authority, MAX_QUOTED)}, and \`Host\` another server.`);
}

/** Returns host and port for comparison. An absent port is the default port of the scheme. */
function withPort(authority: string, scheme: string): string {
  const lower = authority.toLowerCase();
  if (/:\d+$/.test(lower)) return lower;
  return `${lower}:${scheme.toLowerCase() === "https" ? 443 : 80}`;
}

const MAX_QUOTED = 200;
