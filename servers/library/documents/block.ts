import type { OcrChoice, PagePicture } from "./ocr/ocr.ts";

/** What a reader makes of a file: its text in parts, in the order of reading. */
export interface Block {
  readonly kind: "heading" | "paragraph" | "table" | "code";
  /** Of a heading, from 1. */
  readonly level?: number;
  readonly text: string;
  /** From 1; absent where the file has no pages. */
  readonly page?: number;
}

/** What a file says of itself, each value with the place where it stands. */
export interface FoundMetadata {
  readonly title?: string;
  readonly author?: string;
  readonly year?: number;
  readonly language?: string;
  readonly edition?: string;
  readonly work?: string;
  readonly genre?: string;
}

export interface ReadDocument {
  readonly blocks: readonly Block[];
  /** 0 for what has none. */
  readonly pages: number;
  /** What is printed on each page, where that is not its number. */
  readonly labels?: readonly string[];
  /** From the surest to the least sure, each with its name. */
  readonly metadata: readonly (readonly [origin: string, FoundMetadata])[];
  readonly warnings: readonly string[];
  /** Pages that were read from their pictures. */
  readonly ocrPages?: number;
}

/** Reads the pages of one document from their pictures. */
export interface PageReader {
  /** Blocks of each of these pages, from 1, in their order. */
  read(pages: readonly number[], pictureOf: (page: number) => Promise<PagePicture | undefined>): Promise<Block[][]>;
}

/** Reads one kind of file. Throws a `DocumentError`. */
export type Reader = (bytes: Uint8Array, options: ReaderOptions) => Promise<ReadDocument>;

export interface ReaderOptions {
  readonly signal: AbortSignal;
  /** More pages are refused. */
  readonly maxPages: number;
  readonly onPage?: (done: number, total: number) => void;
  /** @default off */
  readonly ocr?: OcrChoice;
  /** Who reads pictures of pages elsewhere; in its absence they are read here. */
  readonly pageReader?: PageReader;
  /** Of the document, where it is known before it is read. */
  readonly language?: string;
}
