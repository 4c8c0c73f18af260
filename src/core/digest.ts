import { createHash } from "node:crypto";
import { isJsonObject } from "./json.ts";

/** Eight hexadecimal digits that tell texts apart, the same on every run. Not a secret's business. */
export function shortDigest(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 8);
}

/** The fingerprint of a larger text, such as a whole list. */
export function contentDigest(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 32);
}

/** JSON text with the members of each object in one order, whatever order they came in. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, member: unknown) =>
    isJsonObject(member) ? Object.fromEntries(Object.entries(member).toSorted(([a], [b]) => (a < b ? -1 : 1))) : member,
  );
}
