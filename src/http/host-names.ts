import { isIP } from "node:net";

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
