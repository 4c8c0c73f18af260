import { isIP } from "node:net";

/** Names under which a listener on loopback is reached; IPv6 in brackets, as in `Host`. */
export const LOOPBACK_NAMES: readonly string[] = ["localhost", "127.0.0.1", "[::1]"];

/**
 * Returns whether only this machine can reach a listener on `host`: `localhost`, an address in `127.0.0.0/8`, `::1`.
 */
export function isLoopbackHost(host: string): boolean {
  const name = host.toLowerCase().replace(/^\[|\]$/g, "");
  return name === "localhost" || name === "::1" || (isIP(name) === 4 && name.startsWith("127."));
}

/**
 * Does the same for the host of a requested address, as `URL` writes it: names under `.localhost` are loopback too.
 */
export function isLoopback(hostname: string): boolean {
  return isLoopbackHost(hostname) || hostname.endsWith(".localhost");
}

/** Names that the hosts files of common systems map to loopback, besides `localhost`. */
const FURTHER_NAMES =
  "localhost.localdomain localhost4 localhost4.localdomain4 localhost6 localhost6.localdomain6 " +
  "ip6-localhost ip6-loopback ipv6-localhost ipv6-loopback loopback";

/** Hosts of this machine: a rule that denies one denies the others. */
export const LOOPBACK_HOSTS: readonly string[] = [...LOOPBACK_NAMES, ...FURTHER_NAMES.split(" "), "0.0.0.0", "[::]"];

const LOOPBACK = /^(?:.+\.localhost|127\.\d+\.\d+\.\d+)$/;

/**
 * Returns whether a host, in lower case as the URL standard writes it, means this machine in rules that deny. The
 * system decides what a further name means, so such a name is no reason to trust.
 */
export function namesLoopback(host: string): boolean {
  return LOOPBACK_HOSTS.includes(host) || LOOPBACK.test(host);
}
