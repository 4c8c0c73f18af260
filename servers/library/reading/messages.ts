import type { FoundMetadata } from "../documents/block.ts";
import type { ChunkBounds } from "../documents/chunker.ts";
import type { DocumentErrorCode } from "../documents/document-error.ts";
import type { Metadata } from "../documents/metadata.ts";
import type { OcrChoice } from "../documents/ocr/ocr.ts";
import type { Heading, PageStart, PassageFields } from "../store/store.ts";

/** One file to be read. */
export interface ReadRequest {
  /** Real and absolute. */
  readonly path: string;
  /** It was allowed by that path: a link in its place is refused. */
  readonly isReal: boolean;
  /** What it is called, where its path does not tell: the address that it came from. */
  readonly name?: string;
  /** What its sender says that it is. */
  readonly mime?: string;
  /** What the caller knows of it, which goes before what is found in it. */
  readonly metadata?: FoundMetadata;
  readonly maxFileBytes: number;
  readonly maxPages: number;
  readonly chunk: ChunkBounds;
  readonly ocr: OcrChoice;
}

/** What was made of it, without its vectors. */
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
  /** Pages that were read from their pictures. */
  readonly ocrPages: number;
}

/** Of a made document what is small; text and passages come in pieces before it. */
export type MadeHead = Omit<MadeDocument, "text" | "chunks" | "summaries">;
/** A chunk's own text is a piece of the document's, which is sent once. */
export type SentChunk = Omit<PassageFields, "text">;

export interface Failed {
  readonly message: string;
  /** Absent for a fault of the program itself. */
  readonly code?: DocumentErrorCode;
  readonly reason?: string;
}

/** Pages, from 1, that somebody else has to read from their pictures. */
export interface OcrWanted {
  readonly mime: string;
  readonly contentHash: string;
  readonly pages: readonly number[];
}

export type ToReader =
  | { readonly type: "read"; readonly request: ReadRequest }
  /** The Markdown of those pages, in their order. */
  | { readonly type: "ocr"; readonly pages: readonly string[] }
  | { readonly type: "no ocr"; readonly failure: Failed };

export type FromReader =
  /** It goes on: pages of how many; 0 of 0 where something else began. */
  | { readonly type: "at"; readonly done: number; readonly total: number }
  | { readonly type: "ocr"; readonly wanted: OcrWanted }
  | { readonly type: "text"; readonly piece: string }
  | { readonly type: "chunks"; readonly pieces: readonly SentChunk[] }
  | { readonly type: "summaries"; readonly pieces: readonly PassageFields[] }
  | { readonly type: "made"; readonly head: MadeHead }
  | { readonly type: "failed"; readonly failure: Failed };
