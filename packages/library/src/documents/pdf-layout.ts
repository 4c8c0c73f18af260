import type { Block } from "./block.ts";

/** A run of text on a page; `y` is counted from the top, all in points. */
export interface TextRun {
  readonly text: string;
  readonly x: number;
  readonly y: number;
  readonly size: number;
  readonly width: number;
  readonly endsLine: boolean;
}

export interface PageLines {
  readonly texts: readonly TextRun[];
  readonly width: number;
  readonly height: number;
  /** A picture without text. */
  readonly isScan: boolean;
}

interface PdfLine {
  readonly text: string;
  readonly x: number;
  readonly y: number;
  readonly size: number;
  readonly page: number;
  /** The line is in the header or footer area of the page. */
  readonly isRim: boolean;
}

/** Letters that much larger than those of the body are a heading's. */
const HEADING_RATIO = 1.12;
const MAX_HEADING = 200;
const TOP = 0.06;
const BOTTOM = 0.92;
/** A gap of more than that many letters' heights begins a paragraph. */
const PARAGRAPH_GAP = 1.7;
/** A first line is set in by more than that. */
const INDENT = 0.8;
/** More letters in a row are no word that was cut. */
const MAX_WORD = 100;

/** Derives headings and paragraphs from the position and size of letters. `outline`: titles in lower case. */
export function layOutPages(pages: readonly PageLines[], outline: ReadonlyMap<string, number>): Block[] {
  const lines = pages.flatMap((page, at) => linesOf(page, at + 1));
  const body = bodySize(lines);
  const isHeading = (line: PdfLine): boolean => isHeadingLine(line, body, outline);
  const kept = withoutRims(lines, isHeading, pages.length);
  const levels = levelsOf(kept.filter(isHeading));
  const compounds = new Set(lines.flatMap(({ text }) => text.match(/(?<!\p{L})\p{L}+-\p{L}+/gu) ?? []).map(lower));
  const blocks: Block[] = [];
  let open: { lines: PdfLine[]; heading: boolean; left: number } | undefined;
  const close = (): void => {
    if (!open) return;
    const [first] = open.lines;
    const text = joined(
      open.lines.map((line) => line.text),
      compounds,
    );
    const level = outline.get(lower(text)) ?? levels.get(sizeKey(first!.size)) ?? 1;
    blocks.push({
      kind: open.heading ? "heading" : "paragraph",
      ...(open.heading && { level }),
      text,
      page: first!.page,
    });
    open = undefined;
  };
  for (const line of kept) {
    const heading = isHeading(line);
    if (open && (open.heading !== heading || startsAnew(open, line))) close();
    open ??= { lines: [], heading, left: line.x };
    open.lines.push(line);
    open.left = Math.min(open.left, line.x);
  }
  close();
  return blocks;
}

function linesOf({ texts, height }: PageLines, page: number): PdfLine[] {
  const lines: PdfLine[] = [];
  let run: TextRun[] = [];
  const close = (): void => {
    const text = textOf(run).replaceAll(/\s+/g, " ").trim();
    const [first] = run.filter((one) => one.text.trim() !== "");
    if (first && text !== "") {
      const size = run.reduce((most, one) => (one.text.trim() === "" ? most : Math.max(most, one.size)), 0);
      const isRim = first.y < height * TOP || first.y > height * BOTTOM;
      lines.push({ text, x: first.x, y: first.y, size, page, isRim });
    }
    run = [];
  };
  for (const one of texts) {
    const last = run.at(-1);
    if (last && (last.endsLine || Math.abs(one.y - last.y) > Math.max(one.size, last.size) / 2)) close();
    run.push(one);
  }
  close();
  return lines;
}

/** Runs with a gap between them are words of their own. */
function textOf(run: readonly TextRun[]): string {
  const pieces: string[] = [];
  let end: number | undefined;
  for (const { text, x, size, width } of run) {
    const isApart = end !== undefined && x - end > size * 0.15 && pieces.at(-1)?.endsWith(" ") !== true;
    pieces.push(isApart ? ` ${text}` : text);
    end = x + width;
  }
  return pieces.join("");
}

/** The size in which most letters are set. */
function bodySize(lines: readonly PdfLine[]): number {
  const letters = new Map<number, number>();
  for (const { text, size } of lines) letters.set(sizeKey(size), (letters.get(sizeKey(size)) ?? 0) + text.length);
  return Array.from(letters).toSorted(([, one], [, other]) => other - one)[0]?.[0] ?? 0;
}

function sizeKey(size: number): number {
  return Math.round(size * 2) / 2;
}

function isHeadingLine({ text, size }: PdfLine, body: number, outline: ReadonlyMap<string, number>): boolean {
  if (text.length > MAX_HEADING || !/\p{L}|\p{N}/u.test(text)) return false;
  return size >= body * HEADING_RATIO || outline.has(lower(text));
}

/** Removes page numbers, and headers and footers that repeat on several pages with other numbers. */
function withoutRims(lines: readonly PdfLine[], isHeading: (line: PdfLine) => boolean, pages: number): PdfLine[] {
  const masked = (text: string): string => text.replaceAll(/\d+|\b[ivxlc]+\b/gi, "#");
  const pagesOf = new Map<string, Set<number>>();
  for (const { text, page, isRim } of lines)
    if (isRim) pagesOf.set(masked(text), (pagesOf.get(masked(text)) ?? new Set()).add(page));
  return lines.filter((line) => {
    if (!line.isRim) return true;
    if (/^[\s–—-]*(\d+|[ivxlc]+)[\s–—-]*$/i.test(line.text)) return false;
    return isHeading(line) || pages < 2 || (pagesOf.get(masked(line.text))?.size ?? 0) < 2;
  });
}

/** The largest letters are of level 1. */
function levelsOf(headings: readonly PdfLine[]): Map<number, number> {
  const sizes = Array.from(new Set(headings.map(({ size }) => sizeKey(size)))).toSorted((one, other) => other - one);
  return new Map(sizes.map((size, at) => [size, Math.min(at + 1, 6)]));
}

interface OpenParagraph {
  readonly lines: readonly PdfLine[];
  readonly heading: boolean;
  /** Left edge of the leftmost line. */
  readonly left: number;
}

function startsAnew({ lines, heading, left }: OpenParagraph, line: PdfLine): boolean {
  const last = lines.at(-1)!;
  if (heading) return sizeKey(last.size) !== sizeKey(line.size) || last.page !== line.page;
  if (last.page !== line.page) return endsSentence(last.text);
  const gap = line.y - last.y;
  // The first line of a new column is above the line before it.
  if (gap <= 0) return endsSentence(last.text);
  if (gap > Math.max(last.size, line.size) * PARAGRAPH_GAP) return true;
  return lines.length > 1 && line.x - left > line.size * INDENT && endsSentence(last.text);
}

function endsSentence(text: string): boolean {
  return /[.!?:»”")\]]$/.test(text);
}

/** Lines as one text; a word that was cut at the end of a line is whole again, a compound keeps its hyphen. */
function joined(lines: readonly string[], compounds: ReadonlySet<string>): string {
  const pieces: string[] = [];
  for (const line of lines) {
    const last = pieces.at(-1) ?? "";
    const cut = /(?<!\p{L})(\p{L}+)[-\u00ad\ufffe]$/u.exec(last.slice(-MAX_WORD));
    const next = /^\p{Ll}+/u.exec(line)?.[0];
    if (!cut || next === undefined) pieces.push(line);
    else if (compounds.has(lower(`${cut[1]}-${next}`))) pieces[pieces.length - 1] = last + line;
    else pieces[pieces.length - 1] = last.slice(0, -1) + line;
  }
  return pieces.join(" ").replaceAll(/[\u00ad\ufffe]/g, "");
}

function lower(text: string): string {
  return text.toLowerCase();
}
