import type { Reporter } from "./diagnostics.ts";
import { LIMITS } from "./limits.ts";
import type { Name } from "./model.ts";
import { asciiNameAt, nameAt, toName } from "./names.ts";
import { isAsciiSpace, type Line, type Span } from "./source.ts";
import { firstChars } from "toolyard/text";

/** Reads one line from left to right. The text after `#` is its comment. */
export class LineReader {
  readonly comment: string | undefined;
  readonly #text: string;
  readonly #from: number;
  readonly #reporter: Reporter;
  #at = 0;

  constructor(line: Line, reporter: Reporter) {
    const hash = line.text.indexOf("#");
    this.#text = (hash === -1 ? line.text : line.text.slice(0, hash)).trimEnd();
    this.comment = hash === -1 ? undefined : line.text.slice(hash).trim();
    this.#from = line.from;
    this.#reporter = reporter;
    this.skipSpaces();
  }

  /** Span of the line without its comment. */
  get span(): Span {
    const lead = this.#text.length - this.#text.trimStart().length;
    return { from: this.#from + lead, to: this.#from + this.#text.length };
  }

  get offset(): number {
    return this.#from + this.#at;
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#text.length;
  }

  get rest(): string {
    return this.#text.slice(this.#at);
  }

  /** Span of the unread rest. */
  get restSpan(): Span {
    return { from: this.offset, to: this.#from + this.#text.length };
  }

  skipSpaces(): void {
    while (this.#at < this.#text.length && isSpace(this.#text.charCodeAt(this.#at))) this.#at += 1;
  }

  /** Consumes the word if it is next. Returns whether it was. */
  take(word: string): boolean {
    if (!this.#text.startsWith(word, this.#at)) return false;
    this.#at += word.length;
    this.skipSpaces();
    return true;
  }

  takeName(): Name | undefined {
    const text = nameAt(this.#text, this.#at);
    if (text === undefined) return undefined;
    const name = toName(text, this.offset);
    this.#at += text.length;
    if (text.length > LIMITS.nameLength) this.#tooLong(name);
    this.skipSpaces();
    return name;
  }

  #tooLong({ span }: Name): void {
    const message = `The name has ${span.to - span.from} characters; names have at most ${LIMITS.nameLength}.`;
    this.#reporter.report({ code: "E008", span, message });
  }

  /** Consumes and returns the text up to one of the characters, without surrounding spaces. */
  takeUntil(stops: string): Name {
    const start = this.#at;
    while (this.#at < this.#text.length && !stops.includes(this.#text[this.#at]!)) this.#at += 1;
    const word = toName(this.#text.slice(start, this.#at).trimEnd(), this.#from + start);
    this.skipSpaces();
    return word;
  }

  takeRest(): Name {
    return this.takeUntil("");
  }
}

/** Returns whether a character is a space. Only non-ASCII characters need the regular expression. */
function isSpace(code: number): boolean {
  return isAsciiSpace(code) || (code > 127 && /\s/.test(String.fromCharCode(code)));
}

/** Returns the first position from `at` on that is not ASCII white space. */
export function spacesEnd(text: string, at: number, to: number): number {
  let end = at;
  while (end < to && text.charCodeAt(end) <= 32 && isAsciiSpace(text.charCodeAt(end))) end += 1;
  return end;
}

/** Returns a name that needs no normalisation: ASCII, no time index, within the length limit. */
export function simpleName(text: string, at: number): string | undefined {
  const name = asciiNameAt(text, at);
  if (name === undefined || name.length > LIMITS.nameLength) return undefined;
  const isTimed = text.charCodeAt(at + name.length - 1) === SMALL_T && name.endsWith("_t");
  return isTimed ? undefined : name;
}

const SMALL_T = 116;

/** Returns the comment as a member of a statement. */
export function commentOf({ comment }: LineReader): { readonly comment?: string } {
  return comment === undefined ? {} : { comment };
}

export function shown(text: string): string {
  return JSON.stringify(text.length > 60 ? `${firstChars(text, 60)}…` : text);
}

/** Returns advice for a line that looks like Markdown instead of a statement. */
export function mendOfMarkdown(text: string): string | undefined {
  if (/^\s*```/.test(text)) return "Remove the line: sections need no fences.";
  const bullet = /^\s*([-*+•])\s/.exec(text)?.[1];
  return bullet === undefined ? undefined : `Remove the ${bullet} before it.`;
}
