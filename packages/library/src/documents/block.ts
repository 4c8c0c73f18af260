import type { OcrChoice, PagePicture } from "./ocr/ocr.ts";

/** A part of a file's text, in reading order. */
export interface Block {
  readonly kind: "heading" | "paragraph" | "table" | "code";
  /** Level of a heading, from 1. */
  readonly level?: number;
  readonly text: string;
  /** Page on which the block begins, from 1; absent if the file has no pages. */
  readonly page?: number;
  /** Offsets in the text at which further pages begin, in order. */
  readonly pages?: readonly BlockPage[];
}

/** The beginning of a page within the text of a block. */
export interface BlockPage {
  readonly page: number;
  /** Offset in the block's text. */
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
  /** Number of pages; 0 if the format has no pages. */
  readonly pages: number;
  /** Printed page labels, if they differ from the page numbers. */
  readonly labels?: readonly string[];
  /** Metadata with the name of its origin, the most reliable first. */
  readonly metadata: readonly (readonly [origin: string, FoundMetadata])[];
  readonly warnings: readonly string[];
  /** Number of pages that were read with OCR. */
  readonly ocrPages?: number;
}

/** Reads pages of one document with OCR. */
export interface PageReader {
  /** Returns the blocks of the given pages (numbered from 1), in order. */
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
