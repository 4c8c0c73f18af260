import type { Block, BlockPage } from "./block.ts";
import { bodySize, joinInitials, linesOf, sizeKey, type PageLines, type PdfLine } from "./pdf-lines.ts";
import { divideBehindSentence, partsOf } from "./pdf-notes.ts";

/** Minimum ratio of a heading's letter size to the body's. */
const HEADING_RATIO = 1.12;
const MAX_HEADING = 200;
/** Minimum gap before a new paragraph, as a multiple of the letter height. */
const PARAGRAPH_GAP = 1.7;
/** Minimum indent of a paragraph's first line, as a multiple of the letter height. */
const INDENT = 0.8;
/** Maximum length of a word that was divided at the end of a line. Longer runs of letters are not words. */
const MAX_WORD = 100;

/**
 * Derives headings and paragraphs from the positions and sizes of letters. `outline`: titles in lower case, with their
 * levels.
 */
export function layOutPages(pages: readonly PageLines[], outline: ReadonlyMap<string, number>): Block[] {
  const read = pages.flatMap((page, at) => linesOf(page, at + 1));
  const body = bodySize(read);
  const lines = joinInitials(read, body);
  const isHeading = (line: PdfLine): boolean => isHeadingLine(line, body, outline);
  const kept = withoutRims(lines, isHeading, pages.length);
  const compounds = new Set(lines.flatMap(({ text }) => text.match(/(?<!\p{L})\p{L}+-\p{L}+/gu) ?? []).map(lower));
  const layout = new Layout({ isHeading, outline, levels: levelsOf(kept.filter(isHeading)), compounds });
  for (const { isNotes, lines: own } of partsOf(kept, body)) {
    if (isNotes) layout.addNotes(own);
    else for (const line of own) layout.addLine(line);
  }
  return layout.close();
}

interface LayoutRules {
  readonly isHeading: (line: PdfLine) => boolean;
  readonly outline: ReadonlyMap<string, number>;
  readonly levels: ReadonlyMap<number, number>;
  readonly compounds: ReadonlySet<string>;
}

/** Collects lines into paragraphs and headings. */
class Layout {
  readonly #rules: LayoutRules;
  readonly #blocks: Block[] = [];
  #open: { lines: PdfLine[]; heading: boolean; left: number } | undefined;
  /** Notes that interrupt a sentence from an earlier page. They are added after the paragraph of that sentence. */
  #late: PdfLine[] = [];

  constructor(rules: LayoutRules) {
    this.#rules = rules;
  }

  addLine(line: PdfLine): void {
    const heading = this.#rules.isHeading(line);
    if (this.#open && (this.#open.heading !== heading || startsAnew(this.#open, line))) this.#closeOpen();
    this.#open ??= { lines: [], heading, left: line.x };
    this.#open.lines.push(line);
    this.#open.left = Math.min(this.#open.left, line.x);
  }

  /** Inserts notes on the page that refers to them, before a sentence that continues after them. */
  addNotes(notes: readonly PdfLine[]): void {
    const open = this.#open;
    if (!open || open.heading || endsSentence(open.lines.at(-1)!.text)) {
      this.#closeOpen();
      this.#pushNotes(notes);
      return;
    }
    const divided = divideBehindSentence(open.lines);
    const isOfPage = open.lines[0]!.page === notes[0]!.page;
    if (!divided && !isOfPage) {
      this.#late.push(...notes);
      return;
    }
    this.#open = undefined;
    if (divided) this.#push(divided.whole, false);
    this.#pushNotes(notes);
    this.#open = { ...open, lines: Array.from(divided?.torn ?? open.lines) };
  }

  close(): Block[] {
    this.#closeOpen();
    return this.#blocks;
  }

  #closeOpen(): void {
    const open = this.#open;
    this.#open = undefined;
    if (open && open.lines.length > 0) this.#push(open.lines, open.heading);
    const late = this.#late;
    this.#late = [];
    if (late.length > 0) this.#pushNotes(late);
  }

  #pushNotes(lines: readonly PdfLine[]): void {
    let open: { lines: PdfLine[]; heading: boolean; left: number } | undefined;
    for (const line of lines) {
      const isNew = open && (NOTE_MARK.test(line.text) || startsAnew(open, line));
      if (open && isNew) this.#push(open.lines, false);
      if (!open || isNew) open = { lines: [], heading: false, left: line.x };
      open.lines.push(line);
    }
    if (open) this.#push(open.lines, false);
  }

  #push(lines: readonly PdfLine[], heading: boolean): void {
    const { outline, levels, compounds } = this.#rules;
    const [first] = lines;
    if (!first) return;
    const { text, pages } = joined(lines, compounds);
    const level = outline.get(lower(text)) ?? levels.get(sizeKey(first.size)) ?? 1;
    this.#blocks.push({
      kind: heading ? "heading" : "paragraph",
      ...(heading && { level }),
      text,
      page: first.page,
      ...(pages.length > 0 && { pages }),
    });
  }
}

/** Beginning of a note. A line of running text that begins with a number seldom continues with a capital letter. */
const NOTE_MARK = /^(?:\(?\d{1,3}[.)\]]?|\[\d{1,3}\]|[*†‡§¶]{1,3})\s*\p{Lu}/u;

function isHeadingLine({ text, size }: PdfLine, body: number, outline: ReadonlyMap<string, number>): boolean {
  if (text.length > MAX_HEADING || !/\p{L}|\p{N}/u.test(text)) return false;
  return size >= body * HEADING_RATIO || outline.has(lower(text));
}

/** Removes page numbers. Also removes headers and footers that repeat on several pages, even with other numbers. */
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

/** Returns the heading level for each letter size. The largest letters are level 1. */
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
  // The first line of a new column is higher on the page than the line before it.
  if (gap <= 0) return endsSentence(last.text);
  if (gap > Math.max(last.size, line.size) * PARAGRAPH_GAP) return true;
  return lines.length > 1 && line.x - left > line.size * INDENT && endsSentence(last.text);
}

/** Returns whether a line may be the end of a sentence. */
function endsSentence(text: string): boolean {
  return /[.!?:»”")\]]$/.test(text);
}

interface JoinedLines {
  readonly text: string;
  /** Offsets in the text at which further pages begin. */
  readonly pages: readonly BlockPage[];
}

/** Joins lines into one text. A word that was divided at the end of a line is joined; a compound keeps its hyphen. */
function joined(lines: readonly PdfLine[], compounds: ReadonlySet<string>): JoinedLines {
  const pages: BlockPage[] = [];
  let text = "";
  for (const [at, line] of lines.entries()) {
    if (at > 0) text = beforeNext(text, line.text, compounds);
    if (at > 0 && line.page !== lines[at - 1]!.page) pages.push({ page: line.page, at: text.length });
    // The hyphen at the end of the line is examined together with the next line.
    text += withoutHidden(line.text.slice(0, -1)) + line.text.slice(-1);
  }
  return { text: withoutHidden(text), pages };
}

/** Returns the text that precedes the next line: with a space appended, or without the hyphen of a divided word. */
function beforeNext(text: string, line: string, compounds: ReadonlySet<string>): string {
  const cut = /(?<!\p{L})(\p{L}+)[-\u00ad\ufffe]$/u.exec(text.slice(-MAX_WORD));
  const next = /^\p{Ll}+/u.exec(line)?.[0];
  if (!cut || next === undefined) return `${withoutHidden(text)} `;
  return compounds.has(lower(`${cut[1]}-${next}`)) ? withoutHidden(text) : text.slice(0, -1);
}

function withoutHidden(text: string): string {
  return text.replaceAll(/[\u00ad\ufffe]/g, "");
}

function lower(text: string): string {
  return text.toLowerCase();
}
