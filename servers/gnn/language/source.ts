/** A place in a text: both count from 1, columns in UTF-16 code units, as editors and SARIF count them. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

/** A stretch of the text that was read, as offsets in UTF-16 code units; `to` is the first one behind it. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

/** The span of what was never text, such as a model made by a program. */
export const NOWHERE: Span = { from: 0, to: 0 };

/** Where a line of a text that was made of another one comes from. */
export interface LineOrigin {
  readonly line: number;
  /** Added to a column of the made line. */
  readonly shift: number;
}

/** One line of a text, without its end. */
export interface Line extends Span {
  readonly text: string;
}

/** A text with its lines. Where it was made of another text (the CSV form), places are told in that one. */
export class Source {
  readonly text: string;
  readonly lines: readonly Line[];
  readonly #origins: readonly LineOrigin[] | undefined;

  constructor(text: string, origins?: readonly LineOrigin[]) {
    this.text = text;
    this.lines = linesOf(text);
    this.#origins = origins;
  }

  /** The index in `lines` of the line that holds an offset. */
  lineAt(offset: number): number {
    let low = 0;
    let high = this.lines.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.lines[middle]!.from <= offset) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  position(offset: number): Position {
    const index = this.lineAt(offset);
    const column = Math.min(offset, this.lines[index]!.to) - this.lines[index]!.from + 1;
    const origin = this.#origins?.[index];
    return origin ? { line: origin.line, column: column + origin.shift } : { line: index + 1, column };
  }
}

/** Lines end with a line feed, a carriage return, or both. Each end is looked for once, whichever it is. */
function linesOf(text: string): Line[] {
  const lines: Line[] = [];
  let from = 0;
  let feed = placeOf("\n", text, 0);
  let carriage = placeOf("\r", text, 0);
  for (let to = Math.min(feed, carriage); to < text.length; to = Math.min(feed, carriage)) {
    lines.push({ text: text.slice(from, to), from, to });
    from = feed === carriage + 1 ? feed + 1 : to + 1;
    if (feed < from) feed = placeOf("\n", text, from);
    if (carriage < from) carriage = placeOf("\r", text, from);
  }
  lines.push({ text: text.slice(from), from, to: text.length });
  return lines;
}

function placeOf(end: string, text: string, from: number): number {
  const place = text.indexOf(end, from);
  return place === -1 ? text.length : place;
}
