import type { Caller, Holder } from "../fairness/shares.ts";

/**
 * Key of a link to a source, shared by the callers whose credentials the link may carry. A personal source has one link
 * for each principal, or for each lasting connection. Any other source has one link for all callers, and a second one
 * if it treats the callers of the two eras differently.
 */
export type LinkKey =
  | { readonly for: "everybody" }
  | { readonly for: "era"; readonly era: "legacy" }
  | { readonly for: "principal"; readonly principal: string }
  | { readonly for: "connection"; readonly principal: string; readonly connection: string };

export const EVERYBODY: LinkKey = Object.freeze({ for: "everybody" });
export const LEGACY_CALLERS: LinkKey = Object.freeze({ for: "era", era: "legacy" });

/**
 * Returns a text that is the same for the same link. A lasting connection has one principal, so its principal is
 * omitted.
 */
export function linkKeyText(key: LinkKey | Pick<LinkKey & { for: "connection" }, "for" | "connection">): string {
  switch (key.for) {
    case "everybody":
      return "everybody";
    case "era":
      return `era ${key.era}`;
    case "principal":
      return `principal ${key.principal}`;
    case "connection":
      return `connection ${key.connection}`;
  }
}

/** Returns true if callers of several clients use the link. */
export function isSharedLink(key: LinkKey): boolean {
  return key.for !== "connection";
}

/**
 * Returns the holder to whose share of the link limit this link counts. Returns `undefined` if the link is not for one
 * principal.
 */
export function linkHolder(key: LinkKey): Holder | undefined {
  if (key.for === "principal") return { principal: key.principal };
  return key.for === "connection" ? { principal: key.principal, connection: key.connection } : undefined;
}

/** Returns the caller to whose share those requests on the link count that belong to no call. */
export function linkCaller(key: LinkKey): Caller | undefined {
  const holder = linkHolder(key);
  return holder && { principal: { id: holder.principal }, client: holder };
}
