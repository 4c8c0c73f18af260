import type { PdfLine } from "./pdf-lines.ts";

/** Maximum ratio of a note's letter size to the body's. */
const NOTE_RATIO = 0.93;
/** Mark at the beginning of a note: a number or a symbol. */
const MARK = /^(?:\(?\d{1,3}[.)\]]?|\[\d{1,3}\]|[*†‡§¶]{1,3})\s*\S/u;

/** A part of a page in reading order: lines of the text, or the notes between them. */
export interface PagePart {
  readonly isNotes: boolean;
  readonly lines: readonly PdfLine[];
}

/**
 * Divides lines into body text and the notes at the foot of pages or columns. A note that continues on the next page
 * counts as a note there.
 */
export function partsOf(lines: readonly PdfLine[], body: number): PagePart[] {
  const parts: { isNotes: boolean; lines: PdfLine[] }[] = [];
  const hasNotes = new Set<number>();
  for (const [at, line] of lines.entries()) {
    const last = parts.at(-1);
    const goesOn = isNoteOfPage(last, line.page);
    const begins = MARK.test(line.text) || (hasNotes.has(line.page - 1) && isAtFoot(lines, at, body));
    const isNotes = line.size < body * NOTE_RATIO && (goesOn || begins);
    if (isNotes) hasNotes.add(line.page);
    if (goesOn === isNotes && last?.isNotes === isNotes) last.lines.push(line);
    else parts.push({ isNotes, lines: [line] });
  }
  return parts;
}

function isNoteOfPage(part: PagePart | undefined, page: number): boolean {
  return part?.isNotes === true && part.lines.at(-1)!.page === page;
}

/** Returns whether all following lines on the page are small, and larger lines precede them. */
function isAtFoot(lines: readonly PdfLine[], at: number, body: number): boolean {
  const { page } = lines[at]!;
  for (let next = at; lines[next]?.page === page; next += 1) if (lines[next]!.size >= body * NOTE_RATIO) return false;
  return lines[at - 1]?.page === page;
}

/**
 * End of a sentence within a line, before another sentence. A shorter word before the full stop is an abbreviation.
 */
const SENTENCE_END = /(?:\p{Ll}{3}|[\d)»”"'’\]])[.!?…]+[»”"'’)\]]*\s+(?=["«“(]?\p{Lu})/gu;
const LINE_END = /[.!?…][»”"'’)\]]*$/u;

/** A paragraph, divided after the last sentence that ends on its last page. */
export interface DividedParagraph {
  readonly whole: readonly PdfLine[];
  readonly torn: readonly PdfLine[];
}

/** Returns undefined if no sentence ends on the page of the paragraph's last line. */
export function divideBehindSentence(lines: readonly PdfLine[]): DividedParagraph | undefined {
  const page = lines.at(-1)?.page;
  if (page === undefined) return undefined;
  for (let at = lines.length - 1; lines[at]?.page === page; at -= 1) {
    const line = lines[at]!;
    if (LINE_END.test(line.text)) return { whole: lines.slice(0, at + 1), torn: lines.slice(at + 1) };
    const end = Array.from(line.text.matchAll(SENTENCE_END)).at(-1);
    if (!end) continue;
    const place = end.index + end[0].length;
    const [first, rest] = [line.text.slice(0, place).trimEnd(), line.text.slice(place)];
    return {
      whole: [...lines.slice(0, at), { ...line, text: first }],
      torn: [{ ...line, text: rest }, ...lines.slice(at + 1)],
    };
  }
  return undefined;
}
