import type { FoundMetadata } from "../documents/block.ts";
import type { ChunkBounds } from "../documents/chunker.ts";
import type { DocumentErrorCode } from "../documents/document-error.ts";
import type { Metadata } from "../documents/metadata.ts";
import type { OcrChoice } from "../documents/ocr/ocr.ts";
import type { Heading, PageStart, PassageFields } from "../store/store.ts";

/** Request to read one file. */
export interface ReadRequest {
  /** Real, absolute path. */
  readonly path: string;
  /** True if access was granted for this real path: a symbolic link at the path is refused. */
  readonly isReal: boolean;
  /** URL of the document, if it was downloaded to `path`. */
  readonly name?: string;
  /** MIME type given by the sender. */
  readonly mime?: string;
  /** Metadata given by the caller. It overrides metadata found in the file. */
  readonly metadata?: FoundMetadata;
  readonly maxFileBytes: number;
  readonly maxPages: number;
  readonly chunk: ChunkBounds;
  readonly ocr: OcrChoice;
}

/** A processed document, without its vectors. */
export interface MadeDocument {
  /** SHA-256 of the bytes that were read, hexadecimal. */
  readonly contentHash: string;
  readonly bytes: number;
  readonly mime: string;
  readonly metadata: Metadata;
  readonly pages: number;
  readonly pageStarts: readonly PageStart[];
  readonly toc: readonly Heading[];
  readonly warnings: readonly string[];
  readonly text: string;
  readonly chunks: readonly PassageFields[];
  readonly summaries: readonly PassageFields[];
  /** Number of pages that were read with OCR. */
  readonly ocrPages: number;
}

/** The small parts of a processed document. Text and passages are sent before it, in pieces. */
export type MadeHead = Omit<MadeDocument, "text" | "chunks" | "summaries">;
/** A chunk without its text, which is a range of the document's text. The document's text is sent once. */
export type SentChunk = Omit<PassageFields, "text">;

export interface ReadFailure {
  readonly message: string;
  /** Error code; absent for an internal error. */
  readonly code?: DocumentErrorCode;
  readonly reason?: string;
}

/** Pages, from 1, that the parent process reads with OCR. */
export interface OcrWanted {
  readonly mime: string;
  readonly contentHash: string;
  readonly pages: readonly number[];
}

export type ToReader =
  | { readonly type: "read"; readonly request: ReadRequest }
  /** Markdown of the requested pages, in order. */
  | { readonly type: "ocr"; readonly pages: readonly string[] }
  | { readonly type: "no ocr"; readonly failure: ReadFailure };

export type FromReader =
  /** Progress: pages done of the total; 0 of 0 when another step begins. */
  | { readonly type: "at"; readonly done: number; readonly total: number }
  | { readonly type: "ocr"; readonly wanted: OcrWanted }
  | { readonly type: "text"; readonly piece: string }
  | { readonly type: "chunks"; readonly pieces: readonly SentChunk[] }
  | { readonly type: "summaries"; readonly pieces: readonly PassageFields[] }
  | { readonly type: "made"; readonly head: MadeHead }
  | { readonly type: "failed"; readonly failure: ReadFailure };
