import { endOfString } from "./json-depth.ts";

/**
 * This file has the only reader and writer of JSON for values of callers and servers that pass through the hub.
 * `JSON.parse` rounds integers beyond 2^53, and `JSON.stringify` rejects a BigInt. Here an integer literal becomes a
 * `number` within ±`Number.MAX_SAFE_INTEGER` and a `bigint` outside. Decimals and exponents stay IEEE 754 doubles. Node
 * 20 has neither the source text in `JSON.parse` nor `JSON.rawJSON`. Long integers are therefore passed through both
 * functions as marked strings. Text without a run of 16 digits goes directly to `JSON.parse`, and values without a
 * BigInt directly to `JSON.stringify`.
 */

/** Maximum digits of an integer. Converting more digits takes more than linear time; Python has the same limit. */
export const MAX_INTEGER_DIGITS = 4300;

/** Error of `parseExact` for an integer of more than `MAX_INTEGER_DIGITS` digits. */
export class IntegerLengthError extends SyntaxError {
  constructor() {
    super(`An integer has more than ${MAX_INTEGER_DIGITS} digits; send it as a string`);
  }
}

/**
 * Returns `JSON.parse(text)` with each integer exact. Throws the `SyntaxError` of `JSON.parse`, or an
 * `IntegerLengthError`.
 */
export function parseExact(text: string): unknown {
  if (!hasLongDigits(text)) return JSON.parse(text) as unknown;
  const marked = markLongIntegers(text, mark().text);
  return marked === text ? (JSON.parse(text) as unknown) : parseMarked(marked, text);
}

/**
 * Returns the number that decimal text represents: a `bigint` for an integer beyond 2^53, as in `parseExact`. Returns
 * `undefined` for an integer of more than `MAX_INTEGER_DIGITS` digits.
 */
export function exactNumber(text: string): number | bigint | undefined {
  const value = Number(text);
  if (Number.isSafeInteger(value) || !/^-?\d+$/.test(text)) return value;
  return text.length > MAX_INTEGER_DIGITS ? undefined : BigInt(text);
}

/**
 * Returns JSON in which each integer beyond 2^53 is replaced by a string of `start` and its digits, for a reader that
 * uses `JSON.parse`. Throws an `IntegerLengthError`.
 */
export function markIntegers(text: string, start: string): string {
  return hasLongDigits(text) ? markLongIntegers(text, start) : text;
}

/**
 * Returns `JSON.stringify(value, undefined, indent)` with each `bigint` as a JSON number. As with `JSON.stringify`, the
 * result is `undefined` for a value that has no JSON, although the type is `string`.
 */
export function stringifyExact(value: unknown, indent?: number): string {
  // A program may have defined `BigInt.prototype.toJSON`, which would turn numbers into strings.
  if ("toJSON" in BigInt.prototype) return stringifyMarked(value, indent);
  try {
    return JSON.stringify(value, undefined, indent);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    return stringifyMarked(value, indent);
  }
}

/** Returns true if `value` contains a BigInt, at any depth. */
export function holdsBigInt(value: unknown): boolean {
  if (typeof value === "bigint") return true;
  if (typeof value !== "object" || value === null) return false;
  const waiting: object[] = [value];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop())
    for (const member of Object.values(next) as unknown[])
      if (typeof member === "bigint") return true;
      else if (typeof member === "object" && member !== null) waiting.push(member);
  return false;
}

/** Returns `value` with each `bigint` replaced by a string of its digits, for programs that use `JSON.stringify`. */
export function spellBigInts(value: unknown): unknown {
  return holdsBigInt(value) ? replaced(value, String) : value;
}

/** Returns `value` with each `bigint` replaced by the nearest double. Returns the same object if there is none. */
export function roundBigInts(value: unknown): unknown {
  return holdsBigInt(value) ? replaced(value, Number) : value;
}

function replaced(value: unknown, replace: (integer: bigint) => unknown): unknown {
  if (typeof value === "bigint") return replace(value);
  if (Array.isArray(value)) return value.map((item) => replaced(item, replace));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, replaced(member, replace)]));
}

/** Number of digits of the shortest integer beyond ±`Number.MAX_SAFE_INTEGER`. */
const MIN_LONG_DIGITS = 16;

/**
 * Returns true if a text contains a run of 16 digits. Every 16th character is tested, since each such run covers one of
 * these positions.
 */
function hasLongDigits(text: string): boolean {
  for (let at = MIN_LONG_DIGITS - 1; at < text.length; at += MIN_LONG_DIGITS) {
    if (!isDigit(text.charCodeAt(at))) continue;
    let start = at;
    while (isDigit(text.charCodeAt(start - 1))) start -= 1;
    let end = at + 1;
    while (isDigit(text.charCodeAt(end))) end += 1;
    if (end - start >= MIN_LONG_DIGITS) return true;
  }
  return false;
}

interface NumberMark {
  /**
   * Prefix of strings that represent integers. It is random and unknown to peers, so no string of a message begins with
   * it.
   */
  readonly text: string;
  /** Finds the marked strings in JSON. */
  readonly pattern: RegExp;
}

let ownMark: NumberMark | undefined;

/** Returns the prefix of this process. It is created on first use, since loading `node:crypto` takes milliseconds. */
function mark(): NumberMark {
  if (!ownMark) {
    const text = `integer:${crypto.randomUUID()}:`;
    ownMark = { text, pattern: new RegExp(`"${text}(-?\\d+)"`, "g") };
  }
  return ownMark;
}

/** Replaces long integers outside of strings with marked strings; returns the same text if there are none. */
function markLongIntegers(text: string, start: string): string {
  let marked = "";
  let copied = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      at = endOfString(text, at);
    } else if (code === MINUS || isDigit(code)) {
      const end = endOfNumber(text, at);
      const token = text.slice(at, end);
      if (isLongInteger(token) && !isKey(text, end)) {
        marked += `${text.slice(copied, at)}"${start}${token}"`;
        copied = end;
      }
      at = end - 1;
    }
  }
  return copied === 0 ? text : marked + text.slice(copied);
}

function isLongInteger(token: string): boolean {
  if (token.length < MIN_LONG_DIGITS || !INTEGER.test(token)) return false;
  const digits = token.startsWith("-") ? token.length - 1 : token.length;
  if (digits > MAX_INTEGER_DIGITS) throw new IntegerLengthError();
  return !Number.isSafeInteger(Number(token));
}

const INTEGER = /^-?[1-9]\d*$/;

/**
 * Returns true if the number that ends at `end` is used as a key. That is a syntax error, which replacing the number by
 * a string would hide.
 */
function isKey(text: string, end: number): boolean {
  let at = end;
  while (text.charCodeAt(at) <= SPACE) at += 1;
  return text.charCodeAt(at) === COLON;
}

/** Returns the end of a run of number characters. */
function endOfNumber(text: string, start: number): number {
  let at = start + 1;
  for (let code = text.charCodeAt(at); isDigit(code) || NUMBER_SIGNS.has(code); code = text.charCodeAt(at)) at += 1;
  return at;
}

function parseMarked(marked: string, text: string): unknown {
  let root: unknown;
  try {
    root = JSON.parse(marked);
  } catch {
    // Parses the original text, so that the error message does not contain the mark.
    return JSON.parse(text);
  }
  if (typeof root === "string") return integerIn(root) ?? root;
  if (typeof root === "object" && root !== null) unmark(root);
  return root;
}

/**
 * Replaces the marked strings by their integers. Uses a list of objects instead of recursion, which would limit the
 * depth.
 */
function unmark(root: object): void {
  const start = mark().text;
  const waiting: object[] = [root];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop())
    for (const [key, member] of Object.entries(next) as [string, unknown][])
      if (typeof member === "object" && member !== null) waiting.push(member);
      else if (typeof member === "string" && member.startsWith(start)) replaceMember(next, key, integerIn(member));
}

function replaceMember(container: object, key: string, value: unknown): void {
  // Defined, not assigned: assigning to the member `__proto__` would set the prototype.
  Object.defineProperty(container, key, { value, enumerable: true, configurable: true, writable: true });
}

function integerIn(text: string): bigint | undefined {
  const start = mark().text;
  return text.startsWith(start) ? BigInt(text.slice(start.length)) : undefined;
}

function stringifyMarked(value: unknown, indent: number | undefined): string {
  const json = JSON.stringify(value, markBigInt, indent) as string | undefined;
  return json?.replaceAll(mark().pattern, "$1") as string;
}

function markBigInt(this: Readonly<Record<string, unknown>>, key: string, value: unknown): unknown {
  const original = this[key];
  return typeof original === "bigint" ? `${mark().text}${original}` : value;
}

function isDigit(code: number): boolean {
  return code >= ZERO && code <= NINE;
}

const SPACE = 0x20;
const QUOTE = 0x22;
const MINUS = 0x2d;
const ZERO = 0x30;
const NINE = 0x39;
const COLON = 0x3a;
/** The characters `+`, `-`, `.`, `E` and `e`. */
const NUMBER_SIGNS: ReadonlySet<number> = new Set([0x2b, MINUS, 0x2e, 0x45, 0x65]);
