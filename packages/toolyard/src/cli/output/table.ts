import { colorsOf } from "./colors.ts";
import type { Io } from "./io.ts";
import { paintState } from "./state-colors.ts";
import { displayWidth } from "./table-width.ts";
import { fitColumns, wrapWords } from "./wrap.ts";
import { safeToShow } from "../../core/text/hidden-text.ts";

const GAP = "  ";
const MIN_LAST_COLUMN = 20;
/** Width if standard output is not a terminal. */
const PIPED_COLUMNS = 100;
/**
 * Width up to which cells stay on one line if there is no terminal, except in the last column, so that `grep` finds
 * whole rows.
 */
const PIPED_WHOLE_COLUMNS = 40;
/** Headers of columns with states, which are coloured. */
const STATE_HEADERS: readonly string[] = ["state", ""];

export interface TextTableOptions extends Pick<Io, "width" | "color"> {
  /** Maximum number of lines of one cell on a terminal; the rest is truncated. @default no limit */
  readonly maxLines?: number;
}

/**
 * Formats a table that fits the terminal, or 100 columns without one. Cells are wrapped between words. On a terminal,
 * words longer than their column are split; if there is no room for columns, each row becomes a block of lines. Without
 * a terminal, no word is split, so that `toolyard list | grep …` finds every word.
 */
export function table(
  headers: readonly string[],
  rows: readonly (readonly string[])[],
  options: TextTableOptions,
): string {
  const { width } = options;
  const cells = rows.map((row) => headers.map((_, column) => plainLine(row[column] ?? "")));
  const columns = headers.map((header, column) => [header, ...cells.map((row) => row[column]!)]);
  const natural = columns.map((texts) => Math.max(...texts.map(displayWidth)));
  const last = headers.length - 1;
  const whole = width === undefined ? PIPED_WHOLE_COLUMNS : 0;
  const least = columns.map((texts, column) =>
    Math.min(natural[column]!, column === last ? MIN_LAST_COLUMN : Math.max(whole, ...texts.map(longestWord))),
  );
  const room = (width ?? PIPED_COLUMNS) - GAP.length * last;
  const widths = fitColumns(natural, least, room) ?? (width === undefined ? least : undefined);
  if (!widths) return cells.map((row) => block(headers, row, { ...options, width: width! })).join("\n");
  return columnText(headers, cells, { ...options, widths });
}

function longestWord(text: string): number {
  return Math.max(...text.split(" ").map(displayWidth));
}

function columnText(
  headers: readonly string[],
  rows: readonly (readonly string[])[],
  { width, color, widths, maxLines = Infinity }: TextTableOptions & { readonly widths: readonly number[] },
): string {
  const { bold, dim } = colorsOf({ color });
  const isTerminal = width !== undefined;
  const rowText = (row: readonly string[]): string => {
    const wrapped = row.map((cell, column) =>
      wrapWords(cell, {
        width: widths[column]!,
        splitsWords: isTerminal,
        ...(isTerminal && { maxLines }),
      }),
    );
    const height = Math.max(...wrapped.map((lines) => lines.length));
    return Array.from({ length: height }, (_, at) =>
      trimEnd(wrapped.map((lines, column) => cellText(lines[at] ?? "", column)).join(GAP)),
    ).join("\n");
  };
  const cellText = (text: string, column: number): string => {
    const shown = STATE_HEADERS.includes(headers[column]!) ? paintState(text, { color }) : text;
    return shown + " ".repeat(Math.max(0, widths[column]! - displayWidth(text)));
  };
  const head = trimEnd(headers.map((header, column) => pad(header, widths[column]!)).join(GAP));
  const rule = widths.map((one) => "─".repeat(one)).join(GAP);
  return [bold(head), dim(rule), ...rows.map(rowText)].join("\n");
}

/**
 * Formats a row as lines below its first cell, without columns. A single ASCII word stays complete, because it may be a
 * URL to copy.
 */
function block(
  headers: readonly string[],
  [first = "", ...row]: readonly string[],
  { width, color, maxLines = Infinity }: TextTableOptions & { readonly width: number },
): string {
  const { bold, dim } = colorsOf({ color });
  const lines = row.flatMap((cell, at) => {
    const header = headers[at + 1]!;
    const room = width - GAP.length - displayWidth(header) - 1;
    if (/^[\x21-\x7e]+$/.test(cell) && cell.length > room) return [`${GAP}${cell}`];
    const [start = "", ...rest] = wrapWords(cell, { width: Math.max(1, room), splitsWords: true, maxLines });
    const shown = STATE_HEADERS.includes(header) ? paintState(start, { color }) : start;
    const indent = " ".repeat(GAP.length + displayWidth(header) + 1);
    return [`${GAP}${dim(header)} ${shown}`.trimEnd(), ...rest.map((line) => indent + line)];
  });
  return [bold(first), ...lines].join("\n");
}

/** Returns text as one line. Descriptions and errors of upstream servers may contain control sequences. */
export function plainLine(text: string): string {
  return safeToShow(text.replaceAll(/\s+|\p{Cc}+/gu, " ")).trim();
}

/** Returns untrusted names as a list on one line, without line breaks. */
export function plainList(names: readonly string[]): string {
  return names.map(plainLine).join(", ");
}

function pad(text: string, width: number): string {
  return text + " ".repeat(Math.max(0, width - displayWidth(text)));
}

function trimEnd(line: string): string {
  return line.replace(/(?<! ) +$/, "");
}
