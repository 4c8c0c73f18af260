import { NearbyPlaces } from "./nearby-places.ts";
import type { PageLines, TextRun } from "./pdf-lines.ts";

/** Maximum distance of duplicate text, in points. Text that is drawn again closer than that is the same text. */
const DOUBLED_DISTANCE = 1.5;
/** Minimum gap between columns, as a multiple of the letter height. */
const COLUMN_GAP = 1.5;
const MIN_COLUMN_LINES = 8;
/** Share of a page's lines that must have a gap at the same place. */
const COLUMN_SHARE = 0.6;
/** Minimum length of a line in a column, in characters; cells of a table are shorter. */
const MIN_COLUMN_CHARACTERS = 18;
/** Minimum number of line numbers of a page, and of numbers of which each counts the lines since the one before. */
const MIN_LINE_NUMBERS = 5;
const MIN_COUNTED = 2;

const isText = ({ text }: TextRun): boolean => text.trim() !== "";

/** Returns the runs that repeat an earlier run at the same place, as programs draw bold letters and shadows. */
export function doubledRuns({ texts }: PageLines): ReadonlySet<TextRun> {
  const earlier = new NearbyPlaces<TextRun>(DOUBLED_DISTANCE);
  const doubled = new Set<TextRun>();
  for (const run of texts.filter(({ text }) => text.trim().length > 1)) {
    const isSame = ({ text, x, y }: TextRun): boolean =>
      text === run.text && Math.hypot(x - run.x, y - run.y) < DOUBLED_DISTANCE;
    if (earlier.some(run, isSame)) doubled.add(run);
    earlier.add(run, run);
  }
  return doubled;
}

/** Returns the runs that number the lines of the page in its margin. */
export function lineNumberRuns({ texts, width }: PageLines): ReadonlySet<TextRun> {
  const numbers = texts.filter(({ text, x }) => /^\s*\d{1,4}\s*$/.test(text) && (x < width * 0.15 || x > width * 0.85));
  // Numbers in one column have the same right edge, or the same left edge.
  const columns = [...columnsBy(numbers, ({ x, width: own }) => x + own), ...columnsBy(numbers, ({ x }) => x)];
  const isOfLines = (column: readonly TextRun[]): boolean => {
    const steady = isSteady(column.map(({ text }, at) => Number(text) - Number(column[at - 1]?.text ?? 0)));
    return steady && (column.length >= MIN_LINE_NUMBERS || countsLines(column, texts));
  };
  return new Set(columns.filter(isOfLines).flat());
}

function columnsBy(runs: readonly TextRun[], edgeOf: (run: TextRun) => number): TextRun[][] {
  const columns = new Map<number, TextRun[]>();
  for (const run of runs) {
    const edge = Math.round(edgeOf(run) / 4);
    const column = columns.get(edge);
    if (column) column.push(run);
    else columns.set(edge, [run]);
  }
  return Array.from(columns.values());
}

/**
 * Returns whether a few numbers, such as every fifth or tenth, count the lines between them. Numbers of a table do not:
 * each of its rows has one.
 */
function countsLines(column: readonly TextRun[], texts: readonly TextRun[]): boolean {
  if (column.length < MIN_COUNTED) return false;
  const numbers = new Set(column);
  const all = texts.filter((run) => isText(run) && !numbers.has(run)).map(({ y }) => y);
  // Letters of one line, such as superscripts, have slightly different heights.
  const heights = all.toSorted((one, other) => one - other).filter((y, at, own) => at === 0 || y - own[at - 1]! > 4);
  return column.slice(1).every(({ text, y }, at) => {
    const before = column[at]!;
    const step = Number(text) - Number(before.text);
    const lines = heights.filter((height) => height > before.y + 2 && height <= y + 2).length;
    return step > 1 && Number(text) % step === 0 && Math.abs(lines - step) <= 1;
  });
}

/** Returns whether line numbers increase in equal steps: every line, or every fifth or tenth line, is numbered. */
function isSteady([, ...steps]: readonly number[]): boolean {
  return steps.length > 0 && steps[0]! > 0 && steps.every((step) => step === steps[0]);
}

export function without({ texts, ...page }: PageLines, omitted: ReadonlySet<TextRun>): PageLines {
  return { ...page, texts: texts.filter((run) => !omitted.has(run)) };
}

/** Groups runs into rows, in the order in which they are drawn: consecutive runs at the same height. */
function rowsOf(texts: readonly TextRun[]): TextRun[][] {
  const rows: TextRun[][] = [];
  for (const run of texts.filter(isText)) {
    const last = rows.at(-1)?.at(-1);
    if (last && Math.abs(run.y - last.y) < run.size / 2) rows.at(-1)!.push(run);
    else rows.push([run]);
  }
  return rows;
}

/**
 * Returns the horizontal position of the gap between two columns: a position that the gaps of most rows share, with
 * text on both sides. Undefined if the page has no columns that are drawn row by row.
 */
export function gutterOf({ texts, width }: PageLines, area: Extent = { left: 0, right: width }): number | undefined {
  const [from, to] = [area.left, area.right].map(
    (edge, at) => edge + (area.right - area.left) * (at === 0 ? 0.2 : -0.2),
  );
  const rows = rowsOf(texts);
  const gaps = rows.flatMap((row) =>
    row.slice(1).flatMap((run, at) => {
      const before = row[at]!;
      const end = before.x + before.width;
      return run.x - end > run.size * COLUMN_GAP ? [{ from: end, to: run.x }] : [];
    }),
  );
  const lines = Math.max(MIN_COLUMN_LINES, rows.length * COLUMN_SHARE);
  return gaps.find(
    (gap) =>
      gap.to > from! && gap.to < to! && gaps.filter((one) => one.from < gap.to && one.to >= gap.to - 1).length >= lines,
  )?.to;
}

/** Horizontal extent of a part of a page. */
interface Extent {
  readonly left: number;
  readonly right: number;
}

/**
 * Reorders columns of prose that are drawn row by row, so that one column follows the other. A full-width row, such as
 * a heading, separates the columns above it from those below. Returns undefined for a table, because its rows belong
 * together.
 */
export function inColumns(page: PageLines, area?: Extent): PageLines | undefined {
  const gutter = gutterOf(page, area);
  if (gutter === undefined) return undefined;
  const rows = rowsOf(page.texts).map((row) => ({
    left: row.filter(({ x, width }) => x + width <= gutter),
    right: row.filter(({ x }) => x >= gutter - 1),
    row,
  }));
  const lengths = rows.flatMap(({ left, right }) => [left, right].map(lengthOf).filter((length) => length > 0));
  const median = lengths.toSorted((one, other) => one - other)[Math.floor(lengths.length / 2)] ?? 0;
  if (median < MIN_COLUMN_CHARACTERS) return undefined;
  const texts: TextRun[] = [];
  let columns: { left: TextRun[][]; right: TextRun[][] } = { left: [], right: [] };
  const flush = (): void => {
    for (const part of [columns.left, columns.right]) texts.push(...partInColumns(part, page));
    columns = { left: [], right: [] };
  };
  for (const { left, right, row } of rows) {
    if (left.length + right.length < row.length) {
      flush();
      texts.push(...closed(row));
      continue;
    }
    if (left.length > 0) columns.left.push(left);
    if (right.length > 0) columns.right.push(right);
  }
  flush();
  return { ...page, texts };
}

/** Returns one side of a gap in reading order. It may consist of several columns itself. */
function partInColumns(rows: readonly (readonly TextRun[])[], page: PageLines): readonly TextRun[] {
  const texts = rows.flat();
  const left = Math.min(...texts.map(({ x }) => x));
  const right = Math.max(...texts.map(({ x, width }) => x + width));
  return inColumns({ ...page, texts }, { left, right })?.texts ?? rows.flatMap(closed);
}

function lengthOf(row: readonly TextRun[]): number {
  return row.reduce((sum, { text }) => sum + text.trim().length, 0);
}

/** Returns the row with its last run marked as the end of the line. */
function closed(row: readonly TextRun[]): TextRun[] {
  return row.map((run, at) => ({ ...run, endsLine: at === row.length - 1 }));
}
