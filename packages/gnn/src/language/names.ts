import type { Dimension, Name } from "./model.ts";
import type { Span } from "./source.ts";

/** Matches a name: letters of any script, digits, `_`, `^` and `'`. It does not begin with a digit. */
const NAME = /[\p{L}_][\p{L}\p{M}\p{N}_^'′]*/uy;
const NAME_CHARACTER = /[\p{L}\p{M}\p{N}_^'′]/u;
/** Matches the time shift after the index `_t`, as in `s_t+1`. */
const SHIFT = /[+-]\d{1,9}/y;
const PLAIN = /^[A-Za-z_π'][A-Za-z0-9_π']*$/;

/** Returns the name at a position of a text, with its time shift. */
export function nameAt(text: string, at: number): string | undefined {
  const name = asciiNameAt(text, at) ?? anyNameAt(text, at);
  if (name === undefined || !name.endsWith("_t")) return name;
  SHIFT.lastIndex = at + name.length;
  const shift = SHIFT.exec(text)?.[0];
  if (shift === undefined) return name;
  const behind = text[at + name.length + shift.length];
  return behind !== undefined && NAME_CHARACTER.test(behind) ? name : name + shift;
}

/**
 * Returns the name at a position if it is ASCII, as most names are: a regular expression takes several times as long.
 * Characters are looked up without a function call, because much of the first text is read before code is compiled.
 */
export function asciiNameAt(text: string, at: number): string | undefined {
  const { length } = text;
  if (at >= length || KINDS[text.charCodeAt(at)] !== START) return undefined;
  let to = at + 1;
  while (to < length && KINDS[text.charCodeAt(to)]! >= PART) to += 1;
  return to < length && text.charCodeAt(to) > 127 ? undefined : text.slice(at, to);
}

/** The character may continue a name. */
const PART = 1;
/** The character may also start a name. */
const START = 2;
/** One entry per UTF-16 code unit, so that no lookup is out of range. */
const KINDS = new Uint8Array(65_536);
for (const part of "0123456789^'") KINDS[part.charCodeAt(0)] = PART;
for (const start of "ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz") KINDS[start.charCodeAt(0)] = START;

function anyNameAt(text: string, at: number): string | undefined {
  // Rejects most characters without the regular expression.
  const code = text.charCodeAt(at);
  if (code < 128 && KINDS[code] !== START) return undefined;
  NAME.lastIndex = at;
  return NAME.exec(text)?.[0];
}

export function isName(text: string): boolean {
  return text !== "" && nameAt(text, 0) === text;
}

/** Returns whether the grammar of `strict-v1` allows the name. */
export function isPlainName(text: string): boolean {
  return PLAIN.test(text);
}

/** Returns a name without its time index: `s_t`, `s_t+1` and `s_t-1` become `s`. */
export function baseName(name: string): string {
  // Fast path: called for hundreds of thousands of names, few of which have a time index.
  if (!name.includes("_t")) return name;
  return name.replace(/_t(?:[+-]\d+)?$/, "") || name;
}

/** Returns the number of steps that a name is ahead: 1 for `s_t+1`. */
export function timeShift(name: string): number {
  return Number(/_t([+-]\d+)$/.exec(name)?.[1] ?? 0);
}

/** Values by name. A name that is not stored may refer to the same variable at another time. */
export class NameTable<T> {
  readonly #exact = new Map<string, T>();
  /** Names with a time index, by the name without it. A variable with exactly that name has priority. */
  readonly #byBase = new Map<string, T>();

  add(name: string, value: T): void {
    if (!this.#exact.has(name)) this.#exact.set(name, value);
    const base = baseName(name);
    if (base !== name && !this.#exact.has(base) && !this.#byBase.has(base)) this.#byBase.set(base, value);
  }

  /** Returns the value of the name, or else of the same variable at another time. */
  find(name: string): T | undefined {
    const exact = this.#exact.get(name);
    if (exact !== undefined) return exact;
    const base = baseName(name);
    return this.#byBase.get(base) ?? this.#exact.get(base);
  }

  has(name: string): boolean {
    return this.#exact.has(name);
  }

  get size(): number {
    return this.#exact.size;
  }

  names(): Iterable<string> {
    return this.#exact.keys();
  }
}

/** A name in a text. Its span is created on first access, because few of the many names need it. */
class PlacedName implements Name {
  readonly text: string;
  readonly from: number;

  constructor(text: string, from: number) {
    this.text = text;
    this.from = from;
  }

  get span(): Span {
    return { from: this.from, to: this.from + this.text.length };
  }

  toJSON(): Name {
    return { text: this.text, span: this.span };
  }
}

export function toName(text: string, from: number): Name {
  return new PlacedName(text, from);
}

/** Returns whether the text has 1 to 15 digits. */
function isSize(text: string): boolean {
  if (text === "" || text.length > 15) return false;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code < 48 || code > 57) return false;
  }
  return true;
}

/** Returns the content of the parentheses of `len( )`. */
function insideLength(text: string): string | undefined {
  const begin = text.endsWith(")") ? /^len\s*\(/.exec(text)?.[0] : undefined;
  return begin === undefined ? undefined : text.slice(begin.length, -1).trim();
}

/** Parses a dimension in the brackets of a declaration. */
export function dimensionOf(text: string, from: number): Dimension {
  const span = { from, to: from + text.length };
  if (isSize(text)) return { kind: "size", size: Number(text), span };
  const length = insideLength(text);
  if (length !== undefined && isName(length)) return { kind: "length", name: length, span };
  return isName(text) ? { kind: "reference", name: text, span } : { kind: "unknown", text, span };
}
