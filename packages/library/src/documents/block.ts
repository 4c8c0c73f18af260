import type { OcrChoice, PagePicture } from "./ocr/ocr.ts";

/** A part of a file's text, in reading order. */
export interface Block {
  readonly kind: "heading" | "paragraph" | "table" | "code";
  /** Level of a heading, from 1. */
  readonly level?: number;
  readonly text: string;
  /** Page of the beginning, from 1; absent where the file has no pages. */
  readonly page?: number;
  /** Offsets in the text at which further pages begin, in order. */
  readonly pages?: readonly BlockPage[];
}

/** The beginning of a page within the text of a block. */
export interface BlockPage {
  readonly page: number;
  /** Place in the block's text. */
  readonly at: number;
}

/** Metadata found in a file, with the place of each value. */
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
  /** Printed page labels, if they differ from the page numbers. */
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
  /** Maximum number of pages; a document with more is refused. */
  readonly maxPages: number;
  readonly onPage?: (done: number, total: number) => void;
  /** @default off */
  readonly ocr?: OcrChoice;
  /** Reads page pictures with a remote service. Absent: local OCR reads them. */
  readonly pageReader?: PageReader;
  /** Language of the document, if it is known before reading. */
  readonly language?: string;
}
