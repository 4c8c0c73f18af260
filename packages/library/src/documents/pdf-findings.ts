import type { PageLines, TextRun } from "./pdf-layout.ts";

/** A property of a page that makes its text unreliable. */
export interface PdfFinding {
  /** Message for the user. The page numbers follow it. */
  readonly message: string;
  /** Page numbers, from 1. */
  readonly pages: readonly number[];
}

/** Fewer lines or runs on a page are chance. */
const MIN_COLUMN_LINES = 8;
const MIN_LINE_NUMBERS = 5;
const MIN_DOUBLED_RUNS = 3;
const MIN_UNMAPPED = 5;
/** Share of a page's lines that must have a gap at the same place. */
const COLUMN_SHARE = 0.6;
/** In heights of a letter. A wider gap within a line is one between columns. */
const COLUMN_GAP = 1.5;
/** In points. Text that is drawn again this near is the same text. */
const DOUBLED_DISTANCE = 1.5;

const CHECKS: readonly (readonly [message: string, isFound: (page: PageLines) => boolean])[] = [
  ["Pages whose columns (or table) are drawn row by row, so that their sentences may be mixed", isDrawnByRows],
  ["Pages with line numbers in the margin, which stand in their text", hasLineNumbers],
  ["Pages with text that is drawn twice, so that words may be there twice", hasDoubledText],
  ["Pages with letters that the file maps to no character, so that words are incomplete", hasUnmappedGlyphs],
];

/** Returns what of the pages' text cannot be relied on, in the order of the checks. */
export function pdfFindings(pages: readonly PageLines[]): readonly PdfFinding[] {
  return CHECKS.map(([message, isFound]) => ({
    message,
    pages: pages.flatMap((page, at) => (isFound(page) ? [at + 1] : [])),
  })).filter((finding) => finding.pages.length > 0);
}

const isText = ({ text }: TextRun): boolean => text.trim() !== "";

/** Runs in the order in which they are drawn, as rows: neighbours of the same height. */
function rowsOf(texts: readonly TextRun[]): readonly (readonly TextRun[])[] {
  const rows: TextRun[][] = [];
  for (const run of texts.filter(isText)) {
    const last = rows.at(-1)?.at(-1);
    if (last && Math.abs(run.y - last.y) < run.size / 2) rows.at(-1)!.push(run);
    else rows.push([run]);
  }
  return rows;
}

function isDrawnByRows({ texts, width }: PageLines): boolean {
  const rows = rowsOf(texts);
  const gaps = rows.flatMap((row) =>
    row.slice(1).flatMap((run, at) => {
      const before = row[at]!;
      const from = before.x + before.width;
      return run.x - from > run.size * COLUMN_GAP ? [{ from, to: run.x }] : [];
    }),
  );
  const lines = Math.max(MIN_COLUMN_LINES, rows.length * COLUMN_SHARE);
  // A gutter is a place that the gaps of most lines have in common, and text is to both sides of it.
  return gaps.some(
    ({ to }) =>
      to > width * 0.2 && to < width * 0.8 && gaps.filter((gap) => gap.from < to && gap.to >= to - 1).length >= lines,
  );
}

function hasLineNumbers({ texts, width }: PageLines): boolean {
  const numbers = texts.filter(({ text, x }) => /^\s*\d{1,4}\s*$/.test(text) && (x < width * 0.15 || x > width * 0.85));
  const byPlace = new Map<number, number[]>();
  for (const { text, x, width: own } of numbers) {
    // Numbers of one column end at the same place.
    const end = Math.round((x + own) / 4);
    byPlace.set(end, [...(byPlace.get(end) ?? []), Number(text)]);
  }
  return Array.from(byPlace.values()).some(
    (column) =>
      column.length >= MIN_LINE_NUMBERS && isSteady(column.map((number, at) => number - (column[at - 1] ?? 0))),
  );
}

/** Every line has the next number, or every fifth or tenth one. */
function isSteady([, ...steps]: readonly number[]): boolean {
  return steps[0]! > 0 && steps.every((step) => step === steps[0]);
}

function hasDoubledText({ texts }: PageLines): boolean {
  const seen = new Map<string, TextRun[]>();
  let doubled = 0;
  for (const run of texts.filter(({ text }) => text.trim().length > 1)) {
    const others = seen.get(run.text) ?? [];
    if (others.some((other) => Math.hypot(other.x - run.x, other.y - run.y) < DOUBLED_DISTANCE)) doubled += 1;
    others.push(run);
    seen.set(run.text, others);
  }
  return doubled >= MIN_DOUBLED_RUNS;
}

/** Private use, the replacement character, and control characters, which have no letters. */
const UNMAPPED = /(?![\t\n\v\f\r])[\p{Co}\p{Cc}\u{fffd}]/gu;

function hasUnmappedGlyphs({ texts }: PageLines): boolean {
  const unmapped = texts.reduce((sum, { text }) => sum + (text.match(UNMAPPED)?.length ?? 0), 0);
  return unmapped >= MIN_UNMAPPED;
}
