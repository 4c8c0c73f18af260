/** Text with one position and size on a page. `y` is counted from the top. All lengths are in points. */
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
  /** True if the page is an image without text. */
  readonly isScan: boolean;
  /** True if the page shows text, of which no character can be decoded. @default false */
  readonly isUndecoded?: boolean;
  /** True if text that the page shows to no reader was omitted. @default false */
  readonly hasHiddenText?: boolean;
  /** True if text that is drawn twice was read once. @default false */
  readonly hasDoubledText?: boolean;
  /** True if it is not known whether all of the text can be seen. @default false */
  readonly hasUncheckedText?: boolean;
}

export interface PdfLine {
  readonly text: string;
  readonly x: number;
  readonly y: number;
  readonly size: number;
  readonly page: number;
  /** True if the line is in the header or footer area of the page. */
  readonly isRim: boolean;
  /** Large initial letter before the line. */
  readonly initial?: string;
}

const TOP = 0.06;
const BOTTOM = 0.92;
/** Minimum size of an initial letter at the beginning of a paragraph, as a multiple of the body's letter size. */
const INITIAL_RATIO = 1.8;
/** Maximum number of lines next to an initial. */
const MAX_INITIAL = 8;
/** Minimum gap between words, as a multiple of the letter size. */
const MIN_GAP = 0.15;
/** Initial letters that are also complete words. */
const ONE_LETTER_WORDS = /^[AIOÀÔY]$/;

/** Joins the runs of a page into lines. */
export function linesOf({ texts, height }: PageLines, page: number): PdfLine[] {
  const lines: PdfLine[] = [];
  let run: TextRun[] = [];
  const close = (): void => {
    const line = lineOf(run, page, height);
    if (line) lines.push(line);
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

function lineOf(runs: readonly TextRun[], page: number, height: number): PdfLine | undefined {
  const [first, second] = runs.filter((one) => one.text.trim() !== "");
  if (!first) return undefined;
  const isInitialFirst = second !== undefined && isInitial({ text: first.text.trim(), size: first.size }, second.size);
  const own = isInitialFirst ? runs.slice(runs.indexOf(second)) : runs;
  const text = textOf(own).replaceAll(/\s+/g, " ").trim();
  const size = own.reduce((most, one) => (one.text.trim() === "" ? most : Math.max(most, one.size)), 0);
  const { y } = isInitialFirst ? second : first;
  const isRim = y < height * TOP || y > height * BOTTOM;
  return { text, x: first.x, y, size, page, isRim, ...(isInitialFirst && { initial: first.text.trim() }) };
}

/** Joins runs into a text. A gap between two runs separates words. */
function textOf(run: readonly TextRun[]): string {
  const pieces: string[] = [];
  let [start, end] = [Infinity, Infinity];
  for (const { text, x, size, width } of run) {
    const isAway = Math.max(x - end, start - (x + width)) > size * MIN_GAP;
    const isApart = pieces.length > 0 && isAway && pieces.at(-1)?.endsWith(" ") !== true;
    pieces.push(isApart ? ` ${text}` : text);
    [start, end] = [x, x + width];
  }
  return pieces.join("");
}

/** Returns the letter size of most letters. */
export function bodySize(lines: readonly PdfLine[]): number {
  const letters = new Map<number, number>();
  for (const { text, size } of lines) letters.set(sizeKey(size), (letters.get(sizeKey(size)) ?? 0) + text.length);
  return Array.from(letters).toSorted(([, one], [, other]) => other - one)[0]?.[0] ?? 0;
}

export function sizeKey(size: number): number {
  return Math.round(size * 2) / 2;
}

/**
 * Joins an initial, which is a large letter at the beginning of a paragraph, with the word that follows it. The lines
 * next to it must belong to a paragraph, and not to a heading.
 */
export function joinInitials(lines: readonly PdfLine[], body: number): PdfLine[] {
  const words = wordCounts(lines);
  const joined = new Map<PdfLine, PdfLine>();
  for (const [at, initial] of lines.entries()) {
    const line = isInitial(initial, body) ? lineBeside(initial, lines, at) : undefined;
    if (line) joined.set(line, initial);
  }
  const initials = new Set(joined.values());
  return lines.flatMap((line) => {
    if (initials.has(line)) return [];
    const before = joined.get(line);
    const letter = before?.text ?? line.initial;
    if (letter === undefined) return [line];
    return [{ ...line, x: before?.x ?? line.x, text: withInitial(letter, line, words) }];
  });
}

function wordCounts(lines: readonly PdfLine[]): ReadonlyMap<string, number> {
  const words = new Map<string, number>();
  for (const { text } of lines)
    for (const word of text.toLowerCase().match(/\p{L}+/gu) ?? []) words.set(word, (words.get(word) ?? 0) + 1);
  return words;
}

/** Returns the line that an initial begins: the following one, or the highest one if the initial is drawn later. */
function lineBeside(initial: PdfLine, lines: readonly PdfLine[], at: number): PdfLine | undefined {
  const next = lines[at + 1];
  if (next && isBeside(next, initial)) return next;
  const others = lines.filter((line) => line !== initial && isBeside(line, initial) && /^\p{L}/u.test(line.text));
  return others.reduce<PdfLine | undefined>((top, line) => (top && top.y <= line.y ? top : line), undefined);
}

function isInitial({ text, size }: Pick<PdfLine, "text" | "size">, body: number): boolean {
  return size >= body * INITIAL_RATIO && /^["“«]?\s?\p{Lu}$/u.test(text);
}

/** Returns whether a line is vertically within the height of an initial letter, and close to its right. */
function isBeside(line: PdfLine, initial: PdfLine): boolean {
  const isNear = line.x > initial.x && line.x - initial.x < initial.size * 2;
  const isLevel = line.y <= initial.y + line.size / 2 && line.y >= initial.y - initial.size * 1.2;
  return line.page === initial.page && line.size * MAX_INITIAL > initial.size && isNear && isLevel;
}

function withInitial(letter: string, { text }: PdfLine, words: ReadonlyMap<string, number>): string {
  const [first = ""] = /^\p{L}+/u.exec(text) ?? [];
  // The word occurs once as the rest of the initial's word; if it occurs again, it is a word by itself.
  const isRest = words.has(`${letter}${first}`.toLowerCase()) || (words.get(first.toLowerCase()) ?? 0) < 2;
  const isWord = ONE_LETTER_WORDS.test(letter) && !isRest;
  return isWord ? `${letter} ${text}` : `${letter}${text}`;
}
