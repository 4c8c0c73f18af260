import { authorFilter, authorKey, plainWords } from "../../search/names.ts";
import type { PostgresValue } from "./postgres-driver.ts";
import type { DocumentFields, Filter } from "../store.ts";

/** Returns the searchable columns of a document. */
export function keysOf({ sourceId, uri, contentHash, author = "", work, language }: DocumentFields): PostgresValue[] {
  return [sourceId, uri, contentHash, authorKey(author), plainWords(work), language ?? null].map((value) =>
    value === null ? null : storable(value),
  );
}

/**
 * Replaces NUL and lone surrogates, which PostgreSQL text cannot store. Keeps the length, so that positions stay valid.
 */
export function storable(text: string): string {
  return text.replaceAll(/\p{Surrogate}|\0/gu, "\uFFFD");
}

/** Returns JSON with strings that PostgreSQL can store; it refuses `\u0000`. */
export function storableJson(value: unknown): string {
  return JSON.stringify(value, (_name, own: unknown) => (typeof own === "string" ? storable(own) : own));
}

/** Returns an array literal in PostgreSQL syntax. */
export function arrayOf(values: readonly (string | number)[]): string {
  return `{${values.map((value) => (typeof value === "number" ? value : JSON.stringify(value))).join(",")}}`;
}

/** Returns the SQL condition of a filter and its values. Placeholders are numbered from `from`. */
export function whereOf({ author, work, language }: Filter, from: number): { sql: string; values: PostgresValue[] } {
  const words = author === undefined ? [] : authorFilter(author);
  const conditions: string[] = [];
  const values: PostgresValue[] = [];
  const place = (value: string): string => `$${from + values.push(storable(value)) - 1}`;
  const has = (key: string, part: string): string => `position(${place(part)} in ${key}) > 0`;
  for (const { word, isInitial } of words ?? []) {
    const key = "' ' || author_key || ' '";
    if (isInitial) conditions.push(has(key, ` ${word}`));
    else conditions.push(`(${has(key, ` ${word} `)} or ${has(key, ` ${Array.from(word)[0]!} `)})`);
  }
  if (work !== undefined) conditions.push(has("' ' || work_key || ' '", ` ${plainWords(work)} `));
  if (language !== undefined) conditions.push(`language = ${place(language)}`);
  // An author filter without letters matches no author.
  if (!words) conditions.push("false");
  return { sql: conditions.length > 0 ? conditions.join(" and ") : "true", values };
}
