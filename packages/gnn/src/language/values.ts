import type { Reporter } from "./diagnostics.ts";
import { LIMITS } from "./limits.ts";
import type { Value, ValueComment, ValueGroup } from "./model.ts";
import { nameAt } from "./names.ts";
import type { Span } from "./source.ts";
import { firstChars } from "toolyard/text";

/** A value, and the offset after it. */
export interface ReadValue {
  readonly value: Value;
  readonly next: number;
}

const NUMBER = /[+-]?(?:inf(?:inity)?(?![\p{L}\p{N}_])|(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)/iuy;
const FRACTION = /\s*\/\s*(\d+(?:\.\d+)?)/y;
const STRING = /"(?:[^"\\\n\r]|\\.)*"|'[^'\n\r]*'/y;
const SPACE = 32;
const MINUS = 45;
const DOT = 46;
const SLASH = 47;
const UNDERSCORE = 95;
const OPENERS = "{([";
const CLOSERS = "})]";

/** An open group. One object per depth is reused. */
interface OpenGroup {
  bracket: string;
  at: number;
  /** Index of the group's first item among the items of all open groups. */
  first: number;
  comments: ValueComment[] | undefined;
  /** True if a value was read and no comma has followed yet. */
  needsComma: boolean;
  /** True if the current item is unreadable. */
  isStrange: boolean;
  /** Key of the entry whose value is read next. */
  key: { readonly text: string; readonly at: number } | undefined;
}

/**
 * Reads one value: nested brackets of any kind, numbers, words, strings and comments. It only reads literals and
 * evaluates nothing. The time is linear in the text, without recursion.
 */
export function readValue({ from, to }: Span, reporter: Reporter): ReadValue {
  return new ValueReader(to, reporter).read(from);
}

/** Reads the values of a text up to a position, in sequence. */
export class ValueReader {
  readonly #text: string;
  readonly #to: number;
  readonly #reporter: Reporter;
  readonly #groups: OpenGroup[] = [];
  #depth = 0;
  /** Items of all open groups. When a group closes, its items are copied into a list of exact length. */
  readonly #items: Value[] = [];
  #count = 0;
  #at = 0;
  #isLineStart = false;
  #done: Value | undefined;

  constructor(to: number, reporter: Reporter) {
    this.#text = reporter.source.text;
    this.#to = to;
    this.#reporter = reporter;
  }

  /** Reads the value that begins at an offset. */
  read(from: number): ReadValue {
    this.#at = from;
    this.#count = 0;
    this.#isLineStart = false;
    this.#done = undefined;
    while (this.#done === undefined && this.#at < this.#to) this.#step();
    if (this.#done === undefined) this.#closeAll();
    return { value: this.#done ?? { kind: "group", items: [], at: from }, next: this.#at };
  }

  #top(): OpenGroup | undefined {
    return this.#depth === 0 ? undefined : this.#groups[this.#depth - 1];
  }

  #step(): void {
    const code = this.#text.charCodeAt(this.#at);
    if (code === 10 || code === 13) {
      this.#isLineStart = true;
      this.#at += 1;
    } else if (code <= 32 || code === 160) this.#at += 1;
    else {
      const isLineStart = this.#isLineStart;
      this.#isLineStart = false;
      this.#token(this.#text[this.#at]!, isLineStart);
    }
  }

  #token(character: string, isLineStart: boolean): void {
    if (isLineStart && this.#beginsNext()) return this.#closeAll();
    if (character === "#") return this.#comment(isLineStart);
    if (character === ",") return this.#comma();
    if (OPENERS.includes(character)) return this.#opening(character);
    if (CLOSERS.includes(character)) return this.#closing(character);
    if (character === '"' || character === "'") return this.#string();
    if (isNumberStart(this.#text.charCodeAt(this.#at))) return this.#number();
    this.#word();
  }

  /**
   * Returns whether a line `name = …` follows, which starts another statement: the open brackets were never closed.
   */
  #beginsNext(): boolean {
    if (this.#depth === 0) return false;
    const name = nameAt(this.#text, this.#at);
    return name !== undefined && /^[ \t]*=/.test(this.#text.slice(this.#at + name.length, this.#at + name.length + 8));
  }

  #comment(ownLine: boolean): void {
    let end = this.#at;
    while (end < this.#to && !isLineEnd(this.#text.charCodeAt(end))) end += 1;
    const group = this.#top();
    const text = this.#text.slice(this.#at, end).trimEnd();
    if (group) (group.comments ??= []).push({ before: this.#count - group.first, text, ownLine });
    this.#at = end;
  }

  #comma(): void {
    const group = this.#top();
    if (group) {
      if (!group.needsComma && !group.isStrange)
        this.#wrong(one(this.#at), "There is a comma without a value before it.");
      group.needsComma = false;
      group.isStrange = false;
    }
    this.#at += 1;
  }

  #opening(bracket: string): void {
    this.#expectPlace();
    if (this.#depth >= LIMITS.depth) return this.#tooDeep();
    const group = (this.#groups[this.#depth] ??= newGroup());
    group.bracket = bracket;
    group.at = this.#at;
    group.first = this.#count;
    group.comments = undefined;
    group.needsComma = false;
    group.isStrange = false;
    group.key = undefined;
    this.#depth += 1;
    this.#at += 1;
  }

  /** Reports the depth limit and skips the text up to the line that begins the next value. */
  #tooDeep(): void {
    this.#reporter.report({
      code: "E008",
      span: { from: this.#at, to: this.#at + 1 },
      message: `The value has more than ${LIMITS.depth} nested brackets; the rest of it is ignored.`,
    });
    while (this.#at < this.#to) {
      if (isLineEnd(this.#text.charCodeAt(this.#at))) this.#isLineStart = true;
      else if (this.#text.charCodeAt(this.#at) > 32) {
        if (this.#isLineStart && this.#beginsNext()) break;
        this.#isLineStart = false;
      }
      this.#at += 1;
    }
    while (this.#depth > 0) this.#close();
  }

  #closing(bracket: string): void {
    const opener = OPENERS[CLOSERS.indexOf(bracket)]!;
    let depth = this.#depth - 1;
    while (depth >= 0 && this.#groups[depth]!.bracket !== opener) depth -= 1;
    this.#at += 1;
    if (depth === -1) return this.#wrong(one(this.#at - 1), `A ${bracket} closes nothing.`);
    while (this.#depth > depth) {
      const group = this.#top()!;
      if (this.#depth > depth + 1)
        this.#wrong(
          one(group.at),
          `The ${group.bracket} is not closed before ${bracket}.`,
          `Close it with ${closerOf(group.bracket)}.`,
        );
      this.#close();
    }
  }

  #close(): void {
    const { first, at, comments } = this.#top()!;
    const items = this.#items.slice(first, this.#count);
    this.#depth -= 1;
    this.#count = first;
    const value: ValueGroup = comments ? { kind: "group", items, at, comments } : { kind: "group", items, at };
    this.#put(value);
  }

  #closeAll(): void {
    while (this.#depth > 0) {
      const { bracket, at } = this.#top()!;
      this.#wrong(one(at), `The ${bracket} is never closed.`, `Close it with ${closerOf(bracket)}.`);
      this.#close();
    }
  }

  #put(value: Value): void {
    const group = this.#top();
    if (!group) {
      this.#done = value;
      return;
    }
    this.#items[this.#count] = group.key ? { kind: "entry", key: group.key.text, value, at: group.key.at } : value;
    this.#count += 1;
    group.key = undefined;
    group.needsComma = true;
    group.isStrange = false;
  }

  /** Reports a missing comma between two values. */
  #expectPlace(): void {
    const group = this.#top();
    if (!group?.needsComma) return;
    this.#wrong(one(this.#at), "A comma is missing between two values.", "Put a comma between them.");
    group.needsComma = false;
  }

  #string(): void {
    STRING.lastIndex = this.#at;
    const found = STRING.exec(this.#text)?.[0];
    if (found === undefined || this.#at + found.length > this.#to) return this.#strange();
    const text = found[0] === '"' ? unescaped(found.slice(1, -1)) : found.slice(1, -1);
    const at = this.#at;
    this.#at += found.length;
    const group = this.#top();
    const colon = /^\s*:/.exec(this.#text.slice(this.#at, this.#at + 8))?.[0];
    if (group && colon !== undefined && !group.key) {
      this.#expectPlace();
      group.key = { text, at };
      this.#at += colon.length;
    } else {
      this.#expectPlace();
      this.#put({ kind: "string", text, at });
    }
  }

  #number(): void {
    const found = this.#digits() ?? this.#anyNumber();
    if (found === undefined) return this.#strange();
    const behind = this.#text.charCodeAt(this.#at + found.length);
    // `3a` and `3.4.5` are not numbers.
    if (isNumberStart(behind) || behind === UNDERSCORE || isLetter(behind)) return this.#strange();
    this.#expectPlace();
    const at = this.#at;
    this.#at += found.length;
    const value = decimalOf(found) ?? numberOf(found);
    const denominator = behind === SLASH || behind === SPACE ? this.#fraction() : undefined;
    if (denominator !== undefined) return this.#quotient(at, value, denominator);
    if (!Number.isFinite(value) && !/inf/i.test(found))
      this.#wrong({ from: at, to: this.#at }, `${shortened(found)} is larger than a number can be.`);
    this.#put({ kind: "number", value, text: found, at });
  }

  #quotient(at: number, numerator: number, denominator: number): void {
    if (denominator === 0) this.#wrong({ from: at, to: this.#at }, "The divisor is 0.");
    const value = denominator === 0 ? 0 : numerator / denominator;
    this.#put({ kind: "number", value, text: this.#text.slice(at, this.#at).replaceAll(/\s/g, ""), at });
  }

  /** Reads digits with at most one dot, the usual form, without a regular expression. */
  #digits(): string | undefined {
    let at = this.#at;
    if (this.#text.charCodeAt(at) === MINUS) at += 1;
    const first = at;
    while (at < this.#to && isDigit(this.#text.charCodeAt(at))) at += 1;
    if (at === first) return undefined;
    if (this.#text.charCodeAt(at) === DOT) at += 1;
    while (at < this.#to && isDigit(this.#text.charCodeAt(at))) at += 1;
    return isDelimiter(this.#text.charCodeAt(at)) ? this.#text.slice(this.#at, at) : undefined;
  }

  #anyNumber(): string | undefined {
    NUMBER.lastIndex = this.#at;
    return NUMBER.exec(this.#text)?.[0];
  }

  #fraction(): number | undefined {
    FRACTION.lastIndex = this.#at;
    const found = FRACTION.exec(this.#text);
    if (!found) return undefined;
    this.#at += found[0].length;
    return Number(found[1]);
  }

  #word(): void {
    const name = nameAt(this.#text, this.#at);
    if (name === undefined) return this.#strange();
    this.#expectPlace();
    const at = this.#at;
    this.#at += name.length;
    if (/^inf(?:inity)?$/i.test(name)) this.#put({ kind: "number", value: Infinity, text: name, at });
    else this.#put({ kind: "word", text: name, at });
  }

  /** Skips unreadable text. A missing comma next to it is not reported. */
  #strange(): void {
    const from = this.#at;
    do this.#at += 1;
    while (this.#at < this.#to && !isDelimiter(this.#text.charCodeAt(this.#at)));
    const text = this.#text.slice(from, this.#at);
    this.#wrong({ from, to: this.#at }, `${JSON.stringify(shortened(text))} is not a number, word or text.`);
    this.#put({ kind: "word", text: text.replaceAll(/[^\p{L}\p{N}_]/gu, "_"), at: from });
    const group = this.#top();
    if (!group) return;
    group.needsComma = false;
    group.isStrange = true;
  }

  #wrong(span: Span, message: string, mend?: string): void {
    this.#reporter.report({ code: "E007", span, message, mend });
  }
}

function newGroup(): OpenGroup {
  return { bracket: "", at: 0, first: 0, comments: undefined, needsComma: false, isStrange: false, key: undefined };
}

/** Returns the span of one character. */
function one(from: number): Span {
  return { from, to: from + 1 };
}

function closerOf(bracket: string): string {
  return CLOSERS[OPENERS.indexOf(bracket)]!;
}

function shortened(text: string): string {
  return text.length > 40 ? `${firstChars(text, 40)}…` : text;
}

function unescaped(text: string): string {
  return text.replaceAll(/\\(.)/g, "$1");
}

/** Maximum length of a decimal that is exactly the quotient of two exact integers. */
const EXACT = 15;
const POWERS = Array.from({ length: EXACT + 1 }, (_, decimals) => 10 ** decimals);

/** Parses a decimal of a few digits. Returns the same result as `Number`, but faster. */
function decimalOf(text: string): number | undefined {
  if (text.length > EXACT) return undefined;
  const isNegative = text.charCodeAt(0) === MINUS;
  let digits = 0;
  let point = text.length - 1;
  for (let at = isNegative ? 1 : 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (isDigit(code)) digits = 10 * digits + code - 48;
    else if (code === DOT) point = at;
    else return undefined;
  }
  const value = digits / POWERS[text.length - 1 - point]!;
  return isNegative ? -value : value;
}

function numberOf(text: string): number {
  const value = Number(text);
  if (!Number.isNaN(value)) return value;
  return text.startsWith("-") ? -Infinity : Infinity;
}

function isLineEnd(code: number): boolean {
  return code === 10 || code === 13;
}

function isDigit(code: number): boolean {
  return code >= 48 && code <= 57;
}

function isNumberStart(code: number): boolean {
  return (code >= 48 && code <= 57) || code === 43 || code === 45 || code === 46;
}

function isLetter(code: number): boolean {
  return (code >= 65 && code <= 90) || (code >= 97 && code <= 122) || code > 160;
}

/** Returns whether the character is white space, a comma, a bracket or the start of a comment. */
function isDelimiter(code: number): boolean {
  if (code <= 35) return code <= 32 || code === 35;
  return code === 44 || code === 40 || code === 41 || code === 160 || code === 123 || code === 125 || isSquare(code);
}

function isSquare(code: number): boolean {
  return code === 91 || code === 93;
}
