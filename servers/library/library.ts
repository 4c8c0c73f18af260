import { mkdir } from "node:fs/promises";
import { dirname } from "node:path";
import type { FoundMetadata } from "./documents/block.ts";
import { DocumentError } from "./documents/document-error.ts";
import { ingest, understands, vectorsOf, type Ingested, type IngestOptions } from "./ingest/ingest.ts";
import { findQuote, type FoundQuote } from "./search/find-quote.ts";
import type { Embedder } from "./search/embedder.ts";
import { searchPassages, type Found, type SearchRequest } from "./search/search.ts";
import { Terms } from "./search/terms.ts";
import { openSqliteStore } from "./store/sqlite.ts";
import type {
  Deleted,
  Filter,
  LibraryStore,
  PassageKind,
  PassageRange,
  StoredDocument,
  StoredPassage,
  Window,
} from "./store/store.ts";

export interface LibraryOptions {
  /** A file of SQLite, absolute; made where there is none. */
  readonly file: string;
  /** @default 209,715,200 */
  readonly maxFileBytes?: number;
  /** @default 5,000 */
  readonly maxPages?: number;
  /** Characters of a chunk. @default 200 to 800 */
  readonly chunk?: { readonly min: number; readonly max: number };
  /** Without one, passages are found by their words alone. */
  readonly embedder?: Embedder;
}

export interface AddRequest {
  /** Absolute and real. */
  readonly path: string;
  readonly metadata?: FoundMetadata;
  readonly signal?: AbortSignal;
  readonly onPage?: (done: number, total: number) => void;
}

export interface ReindexRequest {
  readonly signal?: AbortSignal;
  readonly onDocument?: (done: number, total: number) => void;
}

/** Documents of a library, and passages of a document, that are made anew. */
const MAX_DOCUMENTS = 1_000_000;
const MAX_PASSAGES = 1_000_000;
const DEFAULTS: IngestOptions = { maxFileBytes: 209_715_200, maxPages: 5_000, chunk: { min: 200, max: 800 } };

/** Opens a library. Rejects with kind `unavailable` where its file cannot be used. */
export async function openLibrary({ file, embedder, ...options }: LibraryOptions): Promise<Library> {
  if (file !== ":memory:") await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  return new Library(await openSqliteStore(file), embedder, { ...DEFAULTS, ...options });
}

/** Documents that are read, searched and quoted. */
export class Library implements AsyncDisposable {
  readonly #store: LibraryStore;
  readonly #embedder: Embedder | undefined;
  readonly #options: IngestOptions;
  readonly #terms = new Terms();
  /** Sources that are read just now: a second reading of one would be lost work. */
  readonly #reading = new Set<string>();

  constructor(store: LibraryStore, embedder: Embedder | undefined, options: IngestOptions) {
    this.#store = store;
    this.#embedder = embedder;
    this.#options = options;
  }

  /**
   * Makes all vectors anew, by the embedder that there is. Until it is done, and where it is cut short, passages
   * without one are found by their words.
   */
  async reindex({ signal, onDocument }: ReindexRequest = {}): Promise<number> {
    const embedder = this.#embedder;
    if (!embedder) return 0;
    await this.#store.clearVectors(embedder.id);
    const { documents, total } = await this.#store.documents({}, { limit: MAX_DOCUMENTS, offset: 0 });
    for (const [at, document] of documents.entries()) {
      signal?.throwIfAborted();
      if (understands(embedder, document.language)) await this.#embedAnew(document, embedder);
      onDocument?.(at + 1, total);
    }
    return documents.length;
  }

  async #embedAnew({ sourceId, title }: StoredDocument, embedder: Embedder): Promise<void> {
    for (const kind of ["chunk", "summary"] as const) {
      const { passages } = await this.#store.range(kind, { sourceId, limit: MAX_PASSAGES, offset: 0 });
      const vectors = await vectorsOf(passages, title, embedder);
      await this.#store.setVectors(kind, sourceId, new Map(passages.map(({ id }, index) => [id, vectors[index]!])));
    }
  }

  /** Rejects with `INDEX_MISMATCH` where the vectors are another embedder's. */
  async #expectOwnVectors(): Promise<void> {
    const found = await this.#store.embedder();
    if (!this.#embedder || found === undefined || found === this.#embedder.id) return;
    throw new DocumentError(
      "INDEX_MISMATCH",
      `The library's vectors are of ${found}, and here is ${this.#embedder.id}. Run \`toolyard library reindex\`.`,
    );
  }

  /** Reads a file into the library, as a whole or not at all. Rejects with a `DocumentError`. */
  async add({ path, signal = new AbortController().signal, ...rest }: AddRequest): Promise<Ingested> {
    if (this.#reading.has(path))
      throw new DocumentError("VALIDATION_ERROR", `${path} is being read already. Wait for that.`, "already_ingesting");
    this.#reading.add(path);
    try {
      await this.#expectOwnVectors();
      return await ingest(
        { path, signal, ...rest },
        { store: this.#store, terms: this.#terms, embedder: this.#embedder, options: this.#options },
      );
    } finally {
      this.#reading.delete(path);
    }
  }

  async search(kind: PassageKind, request: SearchRequest): Promise<Found> {
    await this.#expectOwnVectors();
    return searchPassages(kind, request, { store: this.#store, terms: this.#terms, embedder: this.#embedder });
  }

  find(sourceId: string): Promise<StoredDocument | undefined> {
    return this.#store.document(sourceId);
  }

  /** Rejects with `DOCUMENT_NOT_FOUND`. */
  async document(sourceId: string): Promise<StoredDocument> {
    const document = await this.#store.document(sourceId);
    if (document) return document;
    throw new DocumentError("DOCUMENT_NOT_FOUND", `There is no document ${JSON.stringify(sourceId)} in the library.`);
  }

  documents(filter: Filter, window: Window): Promise<{ documents: StoredDocument[]; total: number }> {
    return this.#store.documents(filter, window);
  }

  async range(kind: PassageKind, range: PassageRange): Promise<{ passages: StoredPassage[]; total: number }> {
    await this.document(range.sourceId);
    return this.#store.range(kind, range);
  }

  /** Undefined where there is no such document. */
  remove(sourceId: string): Promise<Deleted | undefined> {
    return this.#store.deleteDocument(sourceId);
  }

  /** Where a quotation stands, in one document or in all; or what comes nearest to it. */
  findQuote(quote: string, sourceId?: string): Promise<FoundQuote> {
    return findQuote(quote, sourceId, { store: this.#store, terms: this.#terms, embedder: undefined });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#store[Symbol.asyncDispose]();
  }
}
