import { isIP } from "node:net";

/** Names of a listener on loopback. IPv6 addresses are in brackets, as in `Host`. */
export const LOOPBACK_NAMES: readonly string[] = ["localhost", "127.0.0.1", "[::1]"];

/**
 * Returns true if only this machine can reach a listener on `host`: `localhost`, an address in `127.0.0.0/8`, `::1`.
 */
export function isLoopbackHost(host: string): boolean {
  const name = host.toLowerCase().replace(/^\[|\]$/g, "");
  return name === "localhost" || name === "::1" || (isIP(name) === 4 && name.startsWith("127."));
}

/**
 * Returns true if the host of a requested address, as `URL` writes it, is loopback. Includes names under `.localhost`.
 */
export function isLoopback(hostname: string): boolean {
  return isLoopbackHost(hostname) || hostname.endsWith(".localhost");
}

/** Further names that common hosts files map to loopback. */
const FURTHER_NAMES =
  "localhost.localdomain localhost4 localhost4.localdomain4 localhost6 localhost6.localdomain6 " +
  "ip6-localhost ip6-loopback ipv6-localhost ipv6-loopback loopback";

/** Hosts of this machine. A rule that denies one of them denies all. */
export const LOOPBACK_HOSTS: readonly string[] = [...LOOPBACK_NAMES, ...FURTHER_NAMES.split(" "), "0.0.0.0", "[::]"];

const LOOPBACK = /^(?:.+\.localhost|127\.\d+\.\d+\.\d+)$/;

/**
 * Returns true if rules that deny must treat a host as this machine. `host` is in lower case, as the URL standard
 * writes it. The further names depend on the system, so they must not be used to permit anything.
 */
export function namesLoopback(host: string): boolean {
  return LOOPBACK_HOSTS.includes(host) || LOOPBACK.test(host);
}
