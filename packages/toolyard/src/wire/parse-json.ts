import { IntegerLengthError, MAX_INTEGER_DIGITS, parseExact } from "../core/json/exact-json.ts";
import { excessIn, excessText, type JsonBounds } from "./json-bounds.ts";
import { RPC } from "./messages.ts";

export type ParsedJson =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly code: number; readonly message: string };

/** Limits of messages of clients. */
export type JsonLimits = JsonBounds & { readonly maxJsonKeys: number };

/** Value of JSON text, or the problem of the text. `words` can follow a description of the text. */
export type ReadJson =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly fault: "syntax" | "bounds" | "parts"; readonly words: string };

/** Removes a byte order mark, which editors and shells on Windows write before UTF-8, and which JSON forbids. */
export function withoutByteOrderMark(text: string): string {
  return text.charCodeAt(0) === BYTE_ORDER_MARK ? text.slice(1) : text;
}

const BYTE_ORDER_MARK = 0xfeff;

/**
 * Parses JSON text, with or without a byte order mark. Checks the limits before parsing. Integers beyond 2^53 become a
 * `bigint` (`core/json/exact-json.ts`).
 */
export function readJson(marked: string, bounds: JsonBounds): ReadJson {
  const text = withoutByteOrderMark(marked);
  const excess = excessIn(text, bounds);
  if (excess !== undefined)
    return { ok: false, fault: excess === "parts" ? "parts" : "bounds", words: excessText(excess, bounds) };
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
