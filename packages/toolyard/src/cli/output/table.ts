import { createRequire } from "node:module";
import type * as StringWidthModule from "string-width";
import type stringWidth from "string-width";
import { colorsOf } from "./colors.ts";
import type { Io } from "./io.ts";
import { safeToShow } from "../../core/text/hidden-text.ts";

const GAP = "  ";
const MIN_LAST_COLUMN = 20;

/**
 * A table: columns as wide as their widest cell. On a terminal the last one is cut to what is left of the line, and
 * where next to nothing is left, each row is a block of lines; elsewhere nothing is cut, so that
 * `toolyard list | grep …` finds every word.
 */
export function table(
  headers: readonly string[],
  rows: readonly (readonly string[])[],
  { width, color }: Pick<Io, "width" | "color">,
): string {
  const { bold, dim } = colorsOf({ color });
  const cells = rows.map((row) => row.map(plainLine));
  const widths = headers.map((header, column) =>
    Math.max(displayWidth(header), ...cells.map((row) => displayWidth(row[column] ?? ""))),
  );
  const last = headers.length - 1;
  const taken = widths.slice(0, last).reduce((sum, one) => sum + one + GAP.length, 0);
  const room = width === undefined ? Infinity : width - taken;
  if (width !== undefined && room < Math.min(MIN_LAST_COLUMN, widths[last]!))
    return cells.map((row) => block(headers, row, { width, color })).join("\n");
  const line = (row: readonly string[]) =>
    headers
      .map((_, column) =>
        column === last ? cutToWidth(row[column] ?? "", room) : pad(row[column] ?? "", widths[column]!),
      )
      .join(GAP)
      .trimEnd();
  const rule = widths.map((one, column) => "─".repeat(column === last ? Math.min(one, room) : one)).join(GAP);
  return [bold(line(headers)), dim(rule), ...cells.map(line)].join("\n");
}

/** A row below its first cell, without columns. What has no blanks is not cut: it may be an address to be copied. */
function block(
  headers: readonly string[],
  [first = "", ...row]: readonly string[],
  { width, color }: { readonly width: number; readonly color: boolean },
): string {
  const { bold, dim } = colorsOf({ color });
  const lines = row.map((cell, at) => {
    const room = width - GAP.length - displayWidth(headers[at + 1]!) - 1;
    const isWord = !/\s/.test(cell);
    if (isWord && displayWidth(cell) > room) return `${GAP}${cell}`;
    return `${GAP}${dim(headers[at + 1]!)} ${cutToWidth(cell, Math.max(1, room))}`.trimEnd();
  });
  return [bold(first), ...lines].join("\n");
}

/** Text as one line. Descriptions and errors of upstream servers are not trusted to leave the terminal alone. */
export function plainLine(text: string): string {
  return safeToShow(text.replaceAll(/\s+|\p{Cc}+/gu, " ")).trim();
}

/** Names from files and servers as one list on one line; a line break in a name begins no line of its own. */
export function plainList(names: readonly string[]): string {
  return names.map(plainLine).join(", ");
}

function pad(text: string, width: number): string {
  return text + " ".repeat(Math.max(0, width - displayWidth(text)));
}

/** Truncates a text to a number of columns; the last one is `…` if something was cut. */
export function cutToWidth(text: string, width: number): string {
  if (displayWidth(text) <= width) return text;
  let kept = "";
  let taken = 1;
  for (const { segment } of graphemes().segment(text)) {
    taken += displayWidth(segment);
    if (taken > width) break;
    kept += segment;
  }
  return `${kept}…`;
}

let segmenter: Intl.Segmenter | undefined;

/** What a reader sees as one character: an emoji of several code points is never cut in two. */
function graphemes(): Intl.Segmenter {
  segmenter ??= new Intl.Segmenter();
  return segmenter;
}

/**
 * Texts of which every character takes one column: Latin, Cyrillic, dashes, dots and quotation marks, box drawing,
 * blocks, Braille patterns, and the two marks of a live view.
 */
const NARROW =
  /^[\u0020-\u007e\u00a1-\u00ac\u00ae-\u02ff\u0400-\u0482\u048a-\u052f\u2010-\u2027\u2500-\u259f\u2713\u2717\u2800-\u28ff]*$/;

let widthOf: typeof stringWidth | undefined;

/** Returns the number of terminal columns that a text without escape sequences takes. */
export function displayWidth(text: string): number {
  if (NARROW.test(text)) return text.length;
  // Loaded with the first text that needs it: the package prepares Unicode's segmentation, which takes 10 to 50 ms.
  widthOf ??= (createRequire(import.meta.url)("string-width") as typeof StringWidthModule).default;
  return widthOf(text, { countAnsiEscapeCodes: true });
}
