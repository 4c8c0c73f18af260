import type { Candidate, TermStats, WantedTerms } from "../search/bm25.ts";
import type { TextPlace, TextPlacesRequest } from "../search/text-places.ts";

/** Between the titles of a section's path. */
export const SECTION_SEPARATOR = " › ";

/** Start of a page in the document's text. `label`: the printed page label, if it differs from the number. */
export interface PageStart {
  readonly offset: number;
  readonly label?: string;
}

export interface Heading {
  readonly level: number;
  readonly title: string;
  /** Place in the document's text. */
  readonly offset: number;
  /** From 1, where the document has pages. */
  readonly page?: number;
}

export interface DocumentFields {
  readonly sourceId: string;
  /** `file:` or `https:`. */
  readonly uri: string;
  /** SHA-256 of the bytes, hexadecimal. */
  readonly contentHash: string;
  /** Version of the code and settings that made the passages. If it changes, the document is read again. */
  readonly pipeline: string;
  readonly bytes: number;
  readonly mime: string;
  readonly title: string;
  readonly author?: string;
  readonly year?: number;
  /** ISO 639-1. */
  readonly language?: string;
  readonly edition?: string;
  readonly genre?: string;
  readonly work: string;
  /** 0 for what has none. */
  readonly pages: number;
  readonly pageStarts: readonly PageStart[];
  readonly toc: readonly Heading[];
  /** Place where title, author and so on were found. */
  readonly origins: Readonly<Record<string, string>>;
  readonly warnings: readonly string[];
}

export interface StoredDocument extends DocumentFields {
  readonly chunks: number;
  readonly summaries: number;
  /** ISO 8601. */
  readonly created: string;
  readonly updated: string;
}

/** Part of a document that is found as one. */
export interface PassageFields {
  /** In the document, from 0. */
  readonly ordinal: number;
  /** Titles from the outermost heading to the innermost. */
  readonly section: readonly string[];
  /** Place in the document's text. */
  readonly from: number;
  readonly to: number;
  /** From 1; absent where the document has no pages. */
  readonly pages?: readonly [from: number, to: number];
  readonly text: string;
  readonly terms: string;
  readonly length: number;
  /** 1 for the document, up to 5 for the deepest section; of chunks 0. */
  readonly level: number;
  readonly concepts?: readonly string[];
  /** Has length 1; absent before the passage has been embedded. */
  readonly vector?: Float32Array;
}

export interface StoredPassage extends Omit<PassageFields, "terms" | "length" | "vector"> {
  /** Id in the store. It changes when the document is read again, and is never reused. */
  readonly id: number;
  readonly sourceId: string;
}

export type PassageKind = "chunk" | "summary";

export interface Filter {
  /** The author's name must contain all these words, in any order; an initial stands for a word that begins with it. */
  readonly author?: string;
  /** Words that are next to one another in the title of the work, case-insensitive. */
  readonly work?: string;
  /** ISO 639-1. */
  readonly language?: string;
}

export interface Window {
  readonly limit: number;
  readonly offset: number;
}

export interface DeleteResult {
  readonly chunks: number;
  readonly summaries: number;
}

export interface Near {
  readonly id: number;
  readonly sourceId: string;
  readonly ordinal: number;
  /** Cosine, as the store reckons it: its last digits are its own. */
  readonly similarity: number;
}

export interface PlacesSearch {
  /** Terms to look for in the passages that are found. */
  readonly terms: readonly string[];
  readonly filter: Filter;
  /** Number of passages that can be read as fast as their counts. */
  readonly few: number;
}

/** Passages in the order of their ids, with their lengths and term counts. */
export interface Places {
  readonly ids: readonly number[];
  /** How many terms each has. */
  readonly lengths: Float64Array;
  /**
   * By term, for each step of `STEPS`: the passages that hold it so often at least, ascending. Others than `ids` may be
   * among them; none comes after the last list.
   */
  readonly terms: ReadonlyMap<string, readonly (readonly number[])[]>;
}

/** A fault that a store found in its data. */
export interface StoreFinding {
  readonly what: string;
  /** True if `repair` fixes it. */
  readonly canMend: boolean;
}

/** A document with all that was made of it, as another store takes it. */
export interface WholeDocument {
  readonly document: DocumentFields;
  readonly text: string;
  readonly passages: Passages;
}

/** Vectors for existing passages, with the passages' ids and the embedder. */
export interface VectorsOf {
  readonly sourceId: string;
  readonly embedder: string;
}

/** A range of a document's passages, in order. */
export interface PassageRange extends Window {
  readonly sourceId: string;
  /** Titles, from the outermost, of which the passage's section begins with all; the last may be cut short. */
  readonly section?: string;
}

/**
 * Stores documents and their passages. Stores count, filter and fetch, but do not rank, so that all of them give the
 * same answers.
 */
export interface LibraryStore extends AsyncDisposable {
  /** The engine and its version, and where the library is, without a password. */
  describe(): Promise<{ readonly engine: string; readonly place: string }>;
  /**
   * Stores a document whole or not at all, and replaces the one with the same source id. Rejects with `INDEX_MISMATCH`
   * if the library now uses another embedder.
   */
  replaceDocument(document: DocumentFields, text: string, passages: Passages): Promise<void>;
  /** Undefined where there is no such document. */
  deleteDocument(sourceId: string): Promise<DeleteResult | undefined>;
  document(sourceId: string): Promise<StoredDocument | undefined>;
  documentByUri(uri: string): Promise<StoredDocument | undefined>;
  documentByHash(contentHash: string): Promise<StoredDocument | undefined>;
  /** The whole text, in which places are counted. */
  textOf(sourceId: string): Promise<string | undefined>;
  /**
   * Returns the places of a quotation in the texts, in the order of `documents`. Absent: the texts of the likeliest
   * documents are read instead.
   */
  textPlaces?(request: TextPlacesRequest, signal?: AbortSignal): Promise<TextPlace[]>;
  /** By author, work and source id. */
  documents(filter: Filter, window: Window): Promise<{ readonly documents: StoredDocument[]; readonly total: number }>;
  languages(): Promise<string[]>;
  passages(kind: PassageKind, ids: readonly number[]): Promise<StoredPassage[]>;
  range(
    kind: PassageKind,
    range: PassageRange,
  ): Promise<{ readonly passages: StoredPassage[]; readonly total: number }>;
  termStats(kind: PassageKind, terms: readonly string[]): Promise<TermStats>;
  candidates(kind: PassageKind, wanted: WantedTerms, filter: Filter): Promise<Candidate[]>;
  /**
   * Returns the passages that `candidates` would return, with their counts, without reading them; undefined if a count
   * is unknown. Absent: reading the passages is as fast.
   */
  places?(kind: PassageKind, wanted: WantedTerms, search: PlacesSearch): Promise<Places | undefined>;
  /** Those of the passages that are there. With `places` only. */
  candidatesAt?(kind: PassageKind, ids: readonly number[]): Promise<Candidate[]>;
  /** The `count` nearest to a vector of length 1, nearest first; those of one distance by id. */
  nearest(kind: PassageKind, vector: Float32Array, search: { filter: Filter; count: number }): Promise<Near[]>;
  /** Returns the embedder of the passages' vectors; undefined if no passage has one. */
  embedder(): Promise<string | undefined>;
  /** Takes every vector away; those that follow are of this embedder. */
  clearVectors(embedder: string): Promise<void>;
  /** By the passages' ids, all of one document. Rejects as `replaceDocument` does. */
  setVectors(kind: PassageKind, of: VectorsOf, vectors: ReadonlyMap<number, Float32Array>): Promise<void>;
  /** The cosines of these passages to a vector of length 1; what has no vector is missing. */
  similarities(kind: PassageKind, vector: Float32Array, ids: readonly number[]): Promise<ReadonlyMap<number, number>>;
  /** Undefined where there is no such document. */
  whole(sourceId: string): Promise<WholeDocument | undefined>;
  /** Compares data that is stored twice. Returns an empty list if no fault is found. */
  check(): Promise<StoreFinding[]>;
  /** Fixes the findings of `check` that can be fixed. */
  repair(): Promise<void>;
  /** Writes a snapshot into a new file. Absent if the database has its own backup tool, which `backupAdvice` names. */
  backup?(file: string): Promise<void>;
  readonly backupAdvice?: string;
}

export interface Passages {
  /** Embedder of the vectors. */
  readonly embedder?: string;
  /** When it was first read, of a document that comes from another library. */
  readonly created?: string;
  readonly chunks: readonly PassageFields[];
  readonly summaries: readonly PassageFields[];
}
