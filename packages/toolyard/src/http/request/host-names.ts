import { isIP } from "node:net";
import { hostname } from "node:os";

/**
 * Returns the name in a `Host` header or in an origin's authority, in lower case and without port. Returns `undefined`
 * if it is invalid.
 */
export function hostNameOf(authority: string): string | undefined {
  const match = /^(\[[0-9a-f:.]+\]|[a-z0-9._~-]+)(?::\d{1,5})?$/i.exec(authority);
  return match?.[1]?.toLowerCase();
}

/** Returns true for an address. The owner of a domain cannot rebind an address. */
export function isAddress(hostName: string): boolean {
  return isIP(hostName.replace(/^\[|\]$/g, "")) !== 0;
}

/**
 * Returns true for the system's name of this machine, its first label, and both with `.local` (multicast DNS). The name
 * is read each time, because it changes with the network.
 */
export function isMachineName(name: string): boolean {
  const full = hostname().toLowerCase();
  const [first = ""] = full.split(".", 1);
  return first !== "" && [full, first, `${full}.local`, `${first}.local`].includes(name);
}
