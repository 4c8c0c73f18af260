import type { Candidate, TermStats, WantedTerms } from "../search/bm25.ts";
import type { TextPlace, TextPlacesRequest } from "../search/text-places.ts";

/** Separator between the titles of a section path. */
export const SECTION_SEPARATOR = " › ";

/** Start of a page in the document's text. `label`: the printed page label, if it differs from the number. */
export interface PageStart {
  readonly offset: number;
  readonly label?: string;
}

export interface Heading {
  readonly level: number;
  readonly title: string;
  /** Offset in the document's text. */
  readonly offset: number;
  /** Page number from 1; absent if the document has no pages. */
  readonly page?: number;
}

export interface DocumentFields {
  readonly sourceId: string;
  /** URI with the scheme `file:` or `https:`. */
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
  /** Language as ISO 639-1. */
  readonly language?: string;
  readonly edition?: string;
  readonly genre?: string;
  readonly work: string;
  /** Number of pages; 0 if the format has no pages. */
  readonly pages: number;
  readonly pageStarts: readonly PageStart[];
  readonly toc: readonly Heading[];
  /** Origin of each metadata value. */
  readonly origins: Readonly<Record<string, string>>;
  readonly warnings: readonly string[];
}

export interface StoredDocument extends DocumentFields {
  readonly chunks: number;
  readonly summaries: number;
  /** Time at which the document was first read (ISO 8601). */
  readonly created: string;
  readonly updated: string;
}

/** Part of a document that is searched and returned as a unit. */
export interface PassageFields {
  /** Position in the document, from 0. */
  readonly ordinal: number;
  /** Titles from the outermost heading to the innermost. */
  readonly section: readonly string[];
  /** Start of the range in the document's text; `to` is its end. */
  readonly from: number;
  readonly to: number;
  /** First and last page, from 1; absent if the document has no pages. */
  readonly pages?: readonly [from: number, to: number];
  readonly text: string;
  readonly terms: string;
  readonly length: number;
  /** Level of a summary: 1 for the document, up to 5 for the deepest section. 0 for chunks. */
  readonly level: number;
  readonly concepts?: readonly string[];
  /** Vector of length 1; absent before the passage has been embedded. */
  readonly vector?: Float32Array;
}

export interface StoredPassage extends Omit<PassageFields, "terms" | "length" | "vector"> {
  /** Id in the store. It changes when the document is read again, and is never reused. */
  readonly id: number;
  readonly sourceId: string;
}

export type PassageKind = "chunk" | "summary";

export interface Filter {
  /** Words that the author's name must contain, in any order. An initial matches a word that begins with it. */
  readonly author?: string;
  /** Words that are next to one another in the title of the work, case-insensitive. */
  readonly work?: string;
  /** Language as ISO 639-1. */
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
  /** Cosine as computed by the store; its last digits differ between stores. */
  readonly similarity: number;
}

export interface PlacesSearch {
  /** Terms to count in the found passages. */
  readonly terms: readonly string[];
  readonly filter: Filter;
  /** Number of passages that can be read as fast as their counts. */
  readonly few: number;
}

/** Passages in ascending order of their ids, with their lengths and term counts. */
export interface Places {
  readonly ids: readonly number[];
  /** Number of terms of each passage. */
  readonly lengths: Float64Array;
  /**
   * For each term, one list per step of `STEPS`: the passages that contain the term at least that often, ascending. A
   * list may contain passages that are not in `ids`. Lists after the last one are empty.
   */
  readonly terms: ReadonlyMap<string, readonly (readonly number[])[]>;
}

/** A fault that a store found in its data. */
export interface StoreFinding {
  readonly what: string;
  /** True if `repair` fixes it. */
  readonly canMend: boolean;
}

/** A complete document, for transfer to another store. */
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
  /** Section path. The passage's section must begin with all these titles; the last title may be truncated. */
  readonly section?: string;
}

/**
 * Stores documents and their passages. Stores count, filter and fetch, but do not rank, so that all stores give the
 * same answers.
 */
export interface LibraryStore extends AsyncDisposable {
  /** Returns the engine with its version, and the location of the library without a password. */
  describe(): Promise<{ readonly engine: string; readonly place: string }>;
  /**
   * Stores a document whole or not at all, and replaces the one with the same source id. Rejects with `INDEX_MISMATCH`
   * if the library now uses another embedder.
   */
  replaceDocument(document: DocumentFields, text: string, passages: Passages): Promise<void>;
  /** Removes a document. Returns undefined if it does not exist. */
  deleteDocument(sourceId: string): Promise<DeleteResult | undefined>;
  document(sourceId: string): Promise<StoredDocument | undefined>;
  documentByUri(uri: string): Promise<StoredDocument | undefined>;
  documentByHash(contentHash: string): Promise<StoredDocument | undefined>;
  /** Returns the whole text, to which all offsets refer. */
  textOf(sourceId: string): Promise<string | undefined>;
  /**
   * Returns the places of a quotation in the texts, in the order of `documents`. Absent: the texts of the most likely
   * documents are read instead.
   */
  textPlaces?(request: TextPlacesRequest, signal?: AbortSignal): Promise<TextPlace[]>;
  /** Returns documents sorted by author, work and source id. */
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
   * Returns the passages that `candidates` would return, with their counts, without reading them. Undefined if a count
   * is unknown. Absent: reading the passages is as fast.
   */
  places?(kind: PassageKind, wanted: WantedTerms, search: PlacesSearch): Promise<Places | undefined>;
  /** Returns those of the passages that still exist. Present only with `places`. */
  candidatesAt?(kind: PassageKind, ids: readonly number[]): Promise<Candidate[]>;
  /** Returns the `count` nearest passages to a vector of length 1, nearest first, then by id. */
  nearest(kind: PassageKind, vector: Float32Array, search: { filter: Filter; count: number }): Promise<Near[]>;
  /** Returns the embedder of the passages' vectors; undefined if no passage has one. */
  embedder(): Promise<string | undefined>;
  /** Removes all vectors. Vectors written afterwards must be from this embedder. */
  clearVectors(embedder: string): Promise<void>;
  /** Stores vectors by passage id, all of one document. Rejects like `replaceDocument`. */
  setVectors(kind: PassageKind, of: VectorsOf, vectors: ReadonlyMap<number, Float32Array>): Promise<void>;
  /** Returns the cosines of these passages to a vector of length 1. Passages without a vector are missing. */
  similarities(kind: PassageKind, vector: Float32Array, ids: readonly number[]): Promise<ReadonlyMap<number, number>>;
  /** Returns a complete document; undefined if it does not exist. */
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
  /** Time at which a document from another library was first read. */
  readonly created?: string;
  readonly chunks: readonly PassageFields[];
  readonly summaries: readonly PassageFields[];
}
