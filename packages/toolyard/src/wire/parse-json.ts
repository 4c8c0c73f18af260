import { IntegerLengthError, MAX_INTEGER_DIGITS, parseExact } from "../core/json/exact-json.ts";
import { isDeeperThan } from "../core/json/json-depth.ts";
import { hasMoreKeysThan, tooManyKeys } from "./json-keys.ts";
import { RPC } from "./messages.ts";

export type ParsedJson =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly code: number; readonly message: string };

/** Limits of accepted JSON, which limit the time for reading it. */
export interface JsonLimits {
  /** Maximum nesting. */
  readonly maxJsonDepth: number;
  /** Maximum number of keys of one object. All objects together may have `KEYS_IN_ALL` times as many. */
  readonly maxJsonKeys: number;
}

/** Value of JSON text, or its problem. `words` can follow a description of the text. */
export type ReadJson =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly fault: "syntax" | "bounds"; readonly words: string };

/** Removes a byte order mark, which editors and shells on Windows write before UTF-8, and which JSON forbids. */
export function withoutByteOrderMark(text: string): string {
  return text.charCodeAt(0) === BYTE_ORDER_MARK ? text.slice(1) : text;
}

const BYTE_ORDER_MARK = 0xfeff;

/**
 * Parses JSON text, with or without a byte order mark. Checks the limits before parsing. Integers beyond 2^53 become a
 * `bigint` (`core/json/exact-json.ts`).
 */
export function readJson(marked: string, { maxJsonDepth, maxJsonKeys }: JsonLimits): ReadJson {
  const text = withoutByteOrderMark(marked);
  if (isDeeperThan(text, maxJsonDepth))
    return { ok: false, fault: "bounds", words: `nests deeper than ${maxJsonDepth} levels` };
  if (hasMoreKeysThan(text, maxJsonKeys)) return { ok: false, fault: "bounds", words: tooManyKeys(maxJsonKeys) };
  try {
    return { ok: true, value: parseExact(text) };
  } catch (error) {
    if (error instanceof IntegerLengthError)
      return { ok: false, fault: "bounds", words: `has an integer of more than ${MAX_INTEGER_DIGITS} digits` };
    return { ok: false, fault: "syntax", words: "is not valid JSON" };
  }
}

/** Parses a message of a peer. If it is refused, returns the JSON-RPC error. */
export function parseJson(text: string, limits: JsonLimits): ParsedJson {
  const read = readJson(text, limits);
  if (read.ok) return read;
  if (read.fault === "syntax") return { ok: false, code: RPC.parse, message: "Parse error" };
  return { ok: false, code: RPC.invalidRequest, message: `Invalid Request: the message ${read.words}` };
}
