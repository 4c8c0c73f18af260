import type { Caller, Holder } from "../fairness/shares.ts";

/**
 * For whom one link to a source is: whose calls go over it, and so whose credentials it may carry. A source that is per
 * person has a link for each principal, or for each lasting connection; any other has one for everybody, and one for
 * callers of an era where it speaks to those differently.
 */
export type LinkKey =
  | { readonly for: "everybody" }
  | { readonly for: "era"; readonly era: "legacy" }
  | { readonly for: "principal"; readonly principal: string }
  | { readonly for: "connection"; readonly principal: string; readonly connection: string };

export const EVERYBODY: LinkKey = Object.freeze({ for: "everybody" });
export const LEGACY_CALLERS: LinkKey = Object.freeze({ for: "era", era: "legacy" });

/** The same text for the same link. A lasting connection has one principal, and is known without it. */
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

/** Callers of several clients use it. */
export function isSharedLink(key: LinkKey): boolean {
  return key.for !== "connection";
}

/** Whose share of the bound on links it takes; nothing where it is not for one person. */
export function linkHolder(key: LinkKey): Holder | undefined {
  if (key.for === "principal") return { principal: key.principal };
  return key.for === "connection" ? { principal: key.principal, connection: key.connection } : undefined;
}

/** Whose share of what the source is asked over it takes all that is asked on no call's behalf. */
export function linkCaller(key: LinkKey): Caller | undefined {
  const holder = linkHolder(key);
  return holder && { principal: { id: holder.principal }, client: holder };
}
