import { isIP } from "node:net";

/** Names under which a listener on loopback is reached; IPv6 in brackets, as in `Host`. */
export const LOOPBACK_NAMES: readonly string[] = ["localhost", "127.0.0.1", "[::1]"];

/** Whether only this machine can reach what listens on `host`: `localhost`, an address in `127.0.0.0/8`, `::1`. */
export function isLoopbackHost(host: string): boolean {
  const name = host.toLowerCase().replace(/^\[|\]$/g, "");
  return name === "localhost" || name === "::1" || (isIP(name) === 4 && name.startsWith("127."));
}

/** The same for the host of an address that is asked, as `URL` writes it: names under `.localhost` lead here, too. */
export function isLoopback(hostname: string): boolean {
  return isLoopbackHost(hostname) || hostname.endsWith(".localhost");
}
