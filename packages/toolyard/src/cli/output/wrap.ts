import { cutToWidth, displayWidth, graphemes } from "./table-width.ts";

export interface WrapOptions {
  /** Maximum width of a line, in columns. */
  readonly width: number;
  /** True if a word longer than a line is split. Otherwise it gets a separate line, which may be longer. */
  readonly splitsWords: boolean;
  /** Maximum number of lines. The last one ends with `…` if more follow. @default no limit */
  readonly maxLines?: number;
}

/** Splits a text without line breaks into lines of at most `width` columns, between words. */
export function wrapWords(text: string, { width, splitsWords, maxLines = Infinity }: WrapOptions): readonly string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ").flatMap((one) => (splitsWords ? piecesOf(one, width) : [one]))) {
    const longer = line === "" ? word : `${line} ${word}`;
    if (line !== "" && displayWidth(longer) > width) {
      lines.push(line);
      line = word;
      if (lines.length > maxLines) break;
    } else line = longer;
  }
  lines.push(line);
  if (lines.length <= maxLines) return lines;
  const last = lines[maxLines - 1]!;
  const cut = displayWidth(last) < width ? `${last}…` : cutToWidth(`${last} `, width);
  return [...lines.slice(0, maxLines - 1), cut];
}

/** Splits a word into pieces of at most `width` columns, between characters. */
function piecesOf(word: string, width: number): readonly string[] {
  if (displayWidth(word) <= width) return [word];
  const pieces: string[] = [];
  let piece = "";
  let taken = 0;
  for (const { segment } of graphemes().segment(word)) {
    const columns = displayWidth(segment);
    if (taken + columns > width && piece !== "") {
      pieces.push(piece);
      [piece, taken] = ["", 0];
    }
    piece += segment;
    taken += columns;
  }
  return [...pieces, piece];
}

/**
 * Chooses the widths of table columns. `natural`: width that each one needs. `least`: width that each one accepts.
 * `room`: available width without the gaps. Narrow columns keep their width; the others divide the rest. Returns
 * `undefined` if there is no room for `least`.
 */
export function fitColumns(
  natural: readonly number[],
  least: readonly number[],
  room: number,
): readonly number[] | undefined {
  const sum = (widths: readonly number[]): number => widths.reduce((total, width) => total + width, 0);
  if (sum(natural) <= room) return natural;
  if (sum(least) > room) return undefined;
  const widths = [...least];
  // Gives one additional column at a time to the narrowest table column that needs it. Tables have few columns.
  for (let left = room - sum(least); left > 0; left -= 1) {
    const needy = widths.flatMap((width, column) => (width < natural[column]! ? [column] : []));
    const narrowest = needy.reduce((best, column) => (widths[column]! < widths[best]! ? column : best), needy[0]!);
    widths[narrowest] = widths[narrowest]! + 1;
  }
  return widths;
}
