import { createHash } from "node:crypto";
import { roundBigInts, stringifyExact } from "./exact-json.ts";
import { isJsonObject } from "./json.ts";

/** Returns eight hexadecimal digits of a text's hash, the same in every run. Too short for secrets. */
export function shortDigest(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 8);
}

/** Returns the hash of a larger text, such as a whole list. */
export function contentDigest(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 32);
}

/**
 * Returns JSON text with the members of each object sorted by name. A `bigint` is written as the nearest double,
 * because the digests of stored pins were computed that way. Use `exactCanonicalJson` if every digit matters.
 */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(roundBigInts(value), (_key, member: unknown) => withSortedMembers(member));
}

/** Returns the JSON text of parsed JSON, with the members of each object sorted by name and each integer exact. */
export function exactCanonicalJson(value: unknown): string {
  return stringifyExact(sorted(value));
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(withSortedMembers(value) as object).map(([name, member]) => [name, sorted(member)]),
  );
}

function withSortedMembers(value: unknown): unknown {
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}
