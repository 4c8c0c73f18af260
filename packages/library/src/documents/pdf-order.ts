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
const MIN_LINE_NUMBERS = 5;

const isText = ({ text }: TextRun): boolean => text.trim() !== "";

/** Returns the runs that repeat an earlier run at the same place, as programs draw bold letters and shadows. */
export function doubledRuns({ texts }: PageLines): ReadonlySet<TextRun> {
  const seen = new Map<string, TextRun[]>();
  const doubled = new Set<TextRun>();
  for (const run of texts.filter(({ text }) => text.trim().length > 1)) {
    const others = seen.get(run.text) ?? [];
    if (others.some((other) => Math.hypot(other.x - run.x, other.y - run.y) < DOUBLED_DISTANCE)) doubled.add(run);
    others.push(run);
    seen.set(run.text, others);
  }
  return doubled;
}

/** Returns the runs that number the lines of the page in its margin. */
export function lineNumberRuns({ texts, width }: PageLines): ReadonlySet<TextRun> {
  const numbers = texts.filter(({ text, x }) => /^\s*\d{1,4}\s*$/.test(text) && (x < width * 0.15 || x > width * 0.85));
  const byPlace = new Map<number, TextRun[]>();
  for (const run of numbers) {
    // Numbers in one column have the same right edge.
    const end = Math.round((run.x + run.width) / 4);
    byPlace.set(end, [...(byPlace.get(end) ?? []), run]);
  }
  const columns = Array.from(byPlace.values()).filter(
    (column) =>
      column.length >= MIN_LINE_NUMBERS &&
      isSteady(column.map(({ text }, at) => Number(text) - Number(column[at - 1]?.text ?? 0))),
  );
  return new Set(columns.flat());
}

/** Returns whether line numbers increase in equal steps: every line, or every fifth or tenth line, is numbered. */
function isSteady([, ...steps]: readonly number[]): boolean {
  return steps[0]! > 0 && steps.every((step) => step === steps[0]);
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
export function gutterOf({ texts, width }: PageLines): number | undefined {
  const rows = rowsOf(texts);
  const gaps = rows.flatMap((row) =>
    row.slice(1).flatMap((run, at) => {
      const before = row[at]!;
      const from = before.x + before.width;
      return run.x - from > run.size * COLUMN_GAP ? [{ from, to: run.x }] : [];
    }),
  );
  const lines = Math.max(MIN_COLUMN_LINES, rows.length * COLUMN_SHARE);
  return gaps.find(
    ({ to }) =>
      to > width * 0.2 && to < width * 0.8 && gaps.filter((gap) => gap.from < to && gap.to >= to - 1).length >= lines,
  )?.to;
}

/**
 * Reorders columns of prose that are drawn row by row, so that one column follows the other. A full-width row, such as
 * a heading, separates the columns above it from those below. Returns undefined for a table, because its rows belong
 * together.
 */
export function inColumns(page: PageLines): PageLines | undefined {
  const gutter = gutterOf(page);
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
    texts.push(...[...columns.left, ...columns.right].flatMap(closed));
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

function lengthOf(row: readonly TextRun[]): number {
  return row.reduce((sum, { text }) => sum + text.trim().length, 0);
}

/** Returns the row with its last run marked as the end of the line. */
function closed(row: readonly TextRun[]): TextRun[] {
  return row.map((run, at) => ({ ...run, endsLine: at === row.length - 1 }));
}
