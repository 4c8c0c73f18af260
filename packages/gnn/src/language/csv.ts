import { isSectionName } from "./section-names.ts";
import { NOTHING, Source, type Line, type LineOrigin } from "./source.ts";

/** Returns whether the text starts with a CSV row of the form `GNNSection,…`. */
export function isCsv(source: Source): boolean {
  let index = 0;
  while (index < source.lineCount && isEmptyOrComment(source.firstCode(index))) index += 1;
  return index < source.lineCount && rowOf(source.line(index).text) !== undefined;
}

function isEmptyOrComment(code: number): boolean {
  return code === NOTHING || code === HASH;
}

const HASH = 35;

function rowOf(text: string): { readonly name: string; readonly rest: string; readonly shift: number } | undefined {
  const comma = text.indexOf(",");
  const cell = text.slice(0, comma).trim();
  const name = cell.replace(/^"(.*)"$/, "$1");
  return comma > 0 && isSectionName(name) ? { name, rest: text.slice(comma + 1), shift: comma + 1 } : undefined;
}

/**
 * Converts CSV to Markdown: each row becomes a section, and a quoted cell may have several lines. A missing ModelName
 * is taken from the title in the first comment. Diagnostics refer to positions in the CSV text.
 */
export function fromCsv(source: Source): Source {
  const maker = new Maker();
  const lines = source.lines();
  let index = 0;
  while (index < lines.length) index = maker.take(lines, index);
  return maker.made();
}

class Maker {
  readonly #lines: string[] = [];
  readonly #origins: LineOrigin[] = [];
  #title: { readonly text: string; readonly origin: LineOrigin } | undefined;
  #hasName = false;
  #hasRow = false;

  /** Processes the row that starts in this line. Returns the index of the line after the row. */
  take(lines: readonly Line[], index: number): number {
    const { text } = lines[index]!;
    const row = rowOf(text);
    if (!row) {
      if (!this.#hasRow && this.#title === undefined && /^\s*#\s*\S/.test(text))
        this.#title = { text: text.replace(/^\s*#+\s*/, ""), origin: { line: index + 1, shift: 0 } };
      this.#push(text, { line: index + 1, shift: 0 });
      return index + 1;
    }
    this.#hasRow = true;
    this.#hasName ||= row.name === "ModelName";
    this.#push(`## ${row.name}`, { line: index + 1, shift: 0 });
    const lead = row.rest.length - row.rest.trimStart().length;
    const cell = row.rest.trimStart();
    if (cell.startsWith('"')) return this.#quoted(lines, index, { text: cell.slice(1), shift: row.shift + lead + 1 });
    if (cell.trim() !== "") this.#push(cell, { line: index + 1, shift: row.shift + lead });
    return index + 1;
  }

  /**
   * Processes quoted cells up to the end of the row. The first cell may have several lines; each further cell becomes a
   * line.
   */
  #quoted(lines: readonly Line[], first: number, start: { readonly text: string; readonly shift: number }): number {
    let index = first;
    let { text, shift } = start;
    for (;;) {
      const end = closingQuote(text);
      this.#push(unquoted(end === -1 ? text : text.slice(0, end)), { line: index + 1, shift });
      if (end === -1) {
        index += 1;
        if (index >= lines.length) return index;
        text = lines[index]!.text;
        shift = 0;
      } else {
        const next = /^\s*,\s*"/.exec(text.slice(end + 1));
        if (!next) {
          const rest = text.slice(end + 1).replace(/^[\s,]+$/, "");
          if (rest !== "") this.#push(rest, { line: index + 1, shift: shift + end + 1 });
          return index + 1;
        }
        shift += end + 1 + next[0].length;
        text = text.slice(end + 1 + next[0].length);
      }
    }
  }

  #push(text: string, origin: LineOrigin): void {
    this.#lines.push(text);
    this.#origins.push(origin);
  }

  made(): Source {
    if (!this.#hasName && this.#title) {
      this.#push("## ModelName", this.#title.origin);
      this.#push(this.#title.text, this.#title.origin);
    }
    return new Source(this.#lines.join("\n"), this.#origins);
  }
}

/** Returns the position of the closing quote. A doubled quote is part of the text. */
function closingQuote(text: string): number {
  for (let at = text.indexOf('"'); at !== -1; at = text.indexOf('"', at + 1)) {
    if (text[at + 1] !== '"') return at;
    at += 1;
  }
  return -1;
}

function unquoted(text: string): string {
  return text.replaceAll('""', '"');
}

/** Returns a cell with quotes if it needs them. */
export function toCell(text: string): string {
  return /^[^"\n\r,\s]+$/.test(text) ? text : `"${text.replaceAll('"', '""')}"`;
}
