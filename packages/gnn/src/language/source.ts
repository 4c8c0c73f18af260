/** A position in a text. Line and column count from 1; columns are UTF-16 code units, as in editors and SARIF. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

/** A range of the original text, as offsets in UTF-16 code units. `to` is exclusive. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

/** The span of a model that was not parsed from a text. */
export const NOWHERE: Span = { from: 0, to: 0 };

/** Origin of a line in the text that it was converted from. */
export interface LineOrigin {
  readonly line: number;
  /** Number that is added to a column of the converted line. */
  readonly shift: number;
}

/** A line of a text, without its line break. */
export interface Line extends Span {
  readonly text: string;
}

/** Consecutive lines, by their numbers in a source. `end` is exclusive. */
export interface LineRange {
  readonly first: number;
  readonly end: number;
}

/** Result of `firstCode` for a blank line. */
export const NOTHING = -1;

/**
 * A text with its lines, stored as two numbers each, because there may be a hundred thousand. For converted text (CSV),
 * positions refer to the original.
 */
export class Source {
  readonly text: string;
  readonly lineCount: number;
  readonly #ends: LineEnds;
  readonly #origins: readonly LineOrigin[] | undefined;

  constructor(text: string, origins?: readonly LineOrigin[]) {
    this.text = text;
    this.#ends = lineEndsOf(text);
    this.lineCount = this.#ends.count;
    this.#origins = origins;
  }

  /** Returns the offset at which a line begins. */
  from(index: number): number {
    return this.#ends.from[index]!;
  }

  /** Returns the offset after the last character of a line. */
  to(index: number): number {
    return this.#ends.to[index]!;
  }

  line(index: number): Line {
    const from = this.from(index);
    const to = this.to(index);
    return { text: this.text.slice(from, to), from, to };
  }

  /** Returns all lines, or those of a range. */
  lines({ first, end }: LineRange = { first: 0, end: this.lineCount }): readonly Line[] {
    return Array.from({ length: end - first }, (_, index) => this.line(first + index));
  }

  /** Returns the code of the first character of a line that is not white space, or `NOTHING`. */
  firstCode(index: number): number {
    const to = this.#ends.to[index]!;
    for (let at = this.#ends.from[index]!; at < to; at += 1) {
      const code = this.text.charCodeAt(at);
      if (code > 32 && code < 128) return code;
      if (code > 127) return firstCodeOf(this.line(index).text.trimStart());
      if (!isAsciiSpace(code)) return code;
    }
    return NOTHING;
  }

  /** Returns the number of the line that contains an offset. */
  lineAt(offset: number): number {
    let low = 0;
    let high = this.lineCount - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.from(middle) <= offset) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  position(offset: number): Position {
    const index = this.lineAt(offset);
    const column = Math.min(offset, this.to(index)) - this.from(index) + 1;
    const origin = this.#origins?.[index];
    return origin ? { line: origin.line, column: column + origin.shift } : { line: index + 1, column };
  }
}

function firstCodeOf(text: string): number {
  return text === "" ? NOTHING : text.charCodeAt(0);
}

export function isAsciiSpace(code: number): boolean {
  return code === 32 || (code >= 9 && code <= 13);
}

interface LineEnds {
  readonly from: Int32Array;
  readonly to: Int32Array;
  readonly count: number;
}

/** Returns the ends of lines: a line feed, a carriage return, or both. Searches for each kind only once per line. */
function lineEndsOf(text: string): LineEnds {
  let from = new Int32Array(64 + (text.length >> 4));
  let to = new Int32Array(from.length);
  let count = 0;
  let feed = placeOf("\n", text, 0);
  let carriage = placeOf("\r", text, 0);
  for (let at = 0; ; count += 1) {
    if (count === from.length) [from, to] = [doubled(from), doubled(to)];
    const end = Math.min(feed, carriage);
    from[count] = at;
    to[count] = end;
    if (end === text.length) return { from, to, count: count + 1 };
    at = feed === carriage + 1 ? feed + 1 : end + 1;
    if (feed < at) feed = placeOf("\n", text, at);
    if (carriage < at) carriage = placeOf("\r", text, at);
  }
}

function doubled(numbers: Int32Array): Int32Array<ArrayBuffer> {
  const larger = new Int32Array(2 * numbers.length);
  larger.set(numbers);
  return larger;
}

function placeOf(end: string, text: string, from: number): number {
  const place = text.indexOf(end, from);
  return place === -1 ? text.length : place;
}
