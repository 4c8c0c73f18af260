import { isJsonObject, type JsonObject } from "../core/json/json.ts";
import { keepJsonText } from "../core/json/json-text.ts";
import { endOfString } from "../core/json/json-depth.ts";
import type { JsonBounds } from "./json-bounds.ts";
import { readJson, withoutByteOrderMark, type ReadJson } from "./parse-json.ts";

/** Minimum length of a member for keeping its text. Writing a shorter member is as fast as finding its text. */
const MIN_KEPT_CHARS = 4096;

/**
 * Matches a number whose text may differ when it is written again: `1.0`, `1e400`, `-0`, `0.1000000000000000055`. May
 * also match inside a string.
 */
const INEXACT_NUMBER = /[:,[\s](?:-0|-?\d+[.eE])/;

/**
 * Parses a message like `readJson`, for messages whose results are mostly forwarded. The text of a result's member is
 * kept if the member is large, or if one of its numbers could be written in another form.
 */
export function parseMessage(marked: string, bounds: JsonBounds): ReadJson {
  const text = withoutByteOrderMark(marked);
  const parsed = readJson(text, bounds);
  if (parsed.ok && isJsonObject(parsed.value) && isJsonObject(parsed.value["result"]) && keepsText(text))
    keepResultTexts(text, parsed.value["result"]);
  return parsed;
}

function keepsText(text: string): boolean {
  if (text.length >= MIN_KEPT_CHARS) return true;
  // Most messages contain no inexact number, which these tests find in a third of the time of `INEXACT_NUMBER`. They
  // start at the result, because `"jsonrpc":"2.0"` precedes it.
  const from = text.indexOf('"result"');
  const mayHoldOne = hasDecimalPoint(text, from) || text.includes("-0", from) || EXPONENT.test(text);
  return mayHoldOne && INEXACT_NUMBER.test(text);
}

const EXPONENT = /\d[eE]/;

function hasDecimalPoint(text: string, from: number): boolean {
  for (let at = text.indexOf(".", from); at !== -1; at = text.indexOf(".", at + 1)) {
    const after = text.charCodeAt(at + 1);
    if (after >= ZERO && after <= NINE) return true;
  }
  return false;
}

interface TextSpan {
  readonly start: number;
  readonly end: number;
}

function keepResultTexts(text: string, result: JsonObject): void {
  const outer = membersOf(text, skipSpace(text, 0));
  const span = outer?.get("result");
  const inner = span && membersOf(text, span.start);
  for (const [name, { start, end }] of inner ?? []) {
    const member = result[name];
    if (typeof member !== "object" || member === null) continue;
    const raw = text.slice(start, end);
    if (!keepsText(raw)) continue;
    // A text with a line break is not kept, because the line break would end a line or an event.
    if (!raw.includes("\n") && !raw.includes("\r")) keepJsonText(member, raw);
  }
}

/**
 * Returns the positions of the members of the object that starts at `open`. Omits names that are escaped or repeated,
 * because the parser decides which member applies.
 */
function membersOf(text: string, open: number): ReadonlyMap<string, TextSpan> | undefined {
  const members = new Map<string, TextSpan>();
  let at = skipSpace(text, open + 1);
  while (text.charCodeAt(at) === QUOTE) {
    const nameEnd = endOfString(text, at);
    const name = text.slice(at + 1, nameEnd);
    if (name.includes("\\") || members.has(name)) return undefined;
    const start = skipSpace(text, skipSpace(text, nameEnd + 1) + 1);
    const end = endOfValue(text, start);
    members.set(name, { start, end });
    at = skipSpace(text, end);
    if (text.charCodeAt(at) !== COMMA) break;
    at = skipSpace(text, at + 1);
  }
  return members;
}

/** Returns the position after the value that starts at `start`. The text was parsed, so it is valid JSON. */
function endOfValue(text: string, start: number): number {
  const first = text.charCodeAt(start);
  if (first === QUOTE) return endOfString(text, start) + 1;
  return first === OPEN_OBJECT || first === OPEN_ARRAY ? endOfNested(text, start) : endOfScalar(text, start);
}

function endOfNested(text: string, start: number): number {
  let depth = 0;
  for (let at = start; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      at = endOfString(text, at);
    } else if (code === OPEN_OBJECT || code === OPEN_ARRAY) {
      depth += 1;
    } else if (code === CLOSE_OBJECT || code === CLOSE_ARRAY) {
      depth -= 1;
      if (depth === 0) return at + 1;
    }
  }
  return text.length;
}

/** Returns the end of a number, `true`, `false` or `null`, which is at the next delimiter. */
function endOfScalar(text: string, start: number): number {
  for (let at = start; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === COMMA || code <= SPACE || code === CLOSE_OBJECT || code === CLOSE_ARRAY) return at;
  }
  return text.length;
}

function skipSpace(text: string, from: number): number {
  let at = from;
  while (text.charCodeAt(at) <= SPACE) at += 1;
  return at;
}

const SPACE = 0x20;
const QUOTE = 0x22;
const COMMA = 0x2c;
const ZERO = 0x30;
const NINE = 0x39;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
