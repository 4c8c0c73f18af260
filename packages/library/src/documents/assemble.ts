import type { Heading, PageStart } from "../store/store.ts";
import type { Block, ReadDocument } from "./block.ts";
import { visibleLine, visibleText } from "./visible-text.ts";

/** Part of a document's text that is not divided by a heading. */
export interface TextPart {
  /** Titles from the outermost heading to the innermost. */
  readonly section: readonly string[];
  /**
   * Position of the heading above the part, or -1 before the first heading. It distinguishes sections with the same
   * title.
   */
  readonly heading: number;
  readonly kind: "paragraph" | "table" | "code";
  readonly from: number;
  readonly to: number;
}

/** A document as one text. All positions are offsets in this text. */
export interface AssembledDocument {
  readonly text: string;
  readonly parts: readonly TextPart[];
  readonly toc: readonly Heading[];
  readonly pageStarts: readonly PageStart[];
}

/** Text between two blocks. */
const GAP = "\n\n";
const MAX_HEADING = 400;
const MAX_LABEL = 40;

export function assemble({ blocks, pages, labels }: ReadDocument): AssembledDocument {
  const assembly = new Assembly(labels);
  for (const block of blocks) assembly.take(block);
  assembly.beginPages(pages);
  return assembly;
}

class Assembly implements AssembledDocument {
  text = "";
  readonly parts: TextPart[] = [];
  readonly toc: Heading[] = [];
  readonly pageStarts: PageStart[] = [];
  readonly #labels: readonly string[] | undefined;
  readonly #open: { level: number; title: string }[] = [];

  constructor(labels: readonly string[] | undefined) {
    this.#labels = labels;
  }

  take(block: Block): void {
    const pieces = piecesOf(block).map((piece) => ({ ...piece, text: visibleText(piece.text) }));
    const text = pieces.map((piece) => piece.text).join("");
    if (text === "") return;
    if (this.text !== "") this.text += GAP;
    const offset = this.text.length;
    for (const piece of pieces) {
      if (piece.page !== undefined) this.beginPages(piece.page);
      this.text += piece.text;
    }
    // Each passage repeats the titles above it, so a longer heading becomes ordinary text.
    if (block.kind === "heading" && text.length <= MAX_HEADING) this.#title(visibleLine(text), block, offset);
    else this.#part(block.kind === "heading" ? "paragraph" : block.kind, offset);
  }

  #title(title: string, { level = 1, page }: Block, offset: number): void {
    while ((this.#open.at(-1)?.level ?? 0) >= level) this.#open.pop();
    this.#open.push({ level, title });
    this.toc.push({ level, title, offset, ...(page !== undefined && { page }) });
  }

  #part(kind: TextPart["kind"], from: number): void {
    const section = this.#open.map(({ title }) => title);
    this.parts.push({ section, heading: this.toc.at(-1)?.offset ?? -1, kind, from, to: this.text.length });
  }

  /** Starts all pages up to this number that have not started yet. */
  beginPages(page: number): void {
    while (this.pageStarts.length < page) {
      const label = this.#labels?.[this.pageStarts.length];
      const isOther = label !== undefined && label !== String(this.pageStarts.length + 1);
      this.pageStarts.push({ offset: this.text.length, ...(isOther && { label: visibleLine(label, MAX_LABEL) }) });
    }
  }
}

/** Returns the text of a block, divided where pages begin. */
function piecesOf({ text, page, pages = [] }: Block): { readonly text: string; readonly page: number | undefined }[] {
  const starts = [{ page, at: 0 }, ...pages];
  return starts.map((start, index) => ({ page: start.page, text: text.slice(start.at, starts[index + 1]?.at) }));
}

/** Returns the first and last page, from 1, of a range of the text. */
export function pagesOf(starts: readonly PageStart[], from: number, to: number): readonly [number, number] | undefined {
  if (starts.length === 0) return undefined;
  const first = pageAt(starts, from);
  return [first, Math.max(first, pageAt(starts, Math.max(from, to - 1)))];
}

function pageAt(starts: readonly PageStart[], at: number): number {
  let low = 0;
  let high = starts.length - 1;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (starts[middle]!.offset <= at) low = middle;
    else high = middle - 1;
  }
  return low + 1;
}
