import { isIP } from "node:net";

/** Names under which a listener on loopback is reached; IPv6 in brackets, as in `Host`. */
export const LOOPBACK_NAMES: readonly string[] = ["localhost", "127.0.0.1", "[::1]"];

/**
 * The name in a `Host` header or in an origin's authority, lower case and without port; `undefined` when it is not one.
 */
export function hostNameOf(authority: string): string | undefined {
  const match = /^(\[[0-9a-f:.]+\]|[a-z0-9._~-]+)(?::\d{1,5})?$/i.exec(authority);
  return match?.[1]?.toLowerCase();
}

/** An address cannot be rebound by whoever owns a name. */
export function isAddress(hostName: string): boolean {
  return isIP(hostName.replace(/^\[|\]$/g, "")) !== 0;
}
