import { createHash, randomUUID } from "node:crypto";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { dataFolder, OptionError } from "toolyard";
import type { FoundMetadata } from "./documents/block.ts";
import { DocumentError } from "./documents/document-error.ts";
import { NO_OCR, withoutKey, type OcrChoice, type OcrWish } from "./documents/ocr/ocr.ts";
import { understands, vectorsOf, type IngestResult, type IngestOptions } from "./ingest/ingest.ts";
import { Ingestion, type IngestionParts } from "./ingest/ingestion.ts";
import type { Jobs, SourceReport } from "./ingest/jobs.ts";
import type { MistralOcr } from "./ingest/mistral-ocr.ts";
import type { Source } from "./ingest/sources.ts";
import type { ReaderBounds } from "./reading/reader-process.ts";
import { findQuote, type FoundQuote } from "./search/find-quote.ts";
import type { Embedder } from "./search/embedder.ts";
import { searchPassages, type PassageHits, type SearchRequest } from "./search/search.ts";
import { Terms } from "./search/terms.ts";
import { openStore, parseStore, type StoreAddress } from "./store/open-store.ts";
import type {
  DeleteResult,
  Filter,
  LibraryStore,
  PassageKind,
  PassageRange,
  StoredDocument,
  StoredPassage,
  Window,
} from "./store/store.ts";

export interface LibraryOptions {
  /** Absolute path of an SQLite file, which is created if it does not exist. If absent, `store` is used. */
  readonly file?: string;
  /**
   * Address of the store: `sqlite:///folder/library.db`, `postgres://…` or `weaviate+http://…`; on a server with
   * `?collection=name`.
   */
  readonly store?: string;
  /** Maximum file size in bytes. @default 209,715,200 */
  readonly maxFileBytes?: number;
  /** Maximum number of pages of a document. @default 5,000 */
  readonly maxPages?: number;
  /** Length of a chunk in characters. @default 200 to 800 */
  readonly chunk?: { readonly min: number; readonly max: number };
  /** OCR settings. @default off */
  readonly ocr?: OcrChoice;
  /** Remote OCR service, used if the setting `ocr` selects it. It is closed with the library. */
  readonly mistral?: MistralOcr;
  /**
   * Absolute folder of the jobs and of the watch lease. @default next to the library file; for a database server, in
   * the data folder
   */
  readonly folder?: string;
  /** Fetches a URL. @default fetches from the public internet only */
  readonly download?: IngestionParts["download"];
  /** Limits of the process that reads documents. */
  readonly reader?: Partial<ReaderBounds>;
  /**
   * Embedder of the passages and queries. Absent: passages are found by words only. A disposable embedder is closed
   * with the library.
   */
  readonly embedder?: Embedder;
}

export interface AddRequest {
  /** Absolute, real path of a file. Give either `path` or `url`. */
  readonly path?: string;
  readonly url?: string;
  readonly metadata?: FoundMetadata;
  /** OCR of this document. @default the library's `ocr` */
  readonly ocr?: OcrWish;
  readonly signal?: AbortSignal;
  readonly onPage?: (done: number, total: number) => void;
  /** True if a user selected the document: tools may then read it again from any folder. @default false */
  readonly isByPerson?: boolean;
}

export interface ReindexRequest {
  readonly signal?: AbortSignal;
  readonly onDocument?: (done: number, total: number) => void;
}

/** Limits of `reindex`: documents of a library, and passages of a document. */
const MAX_DOCUMENTS = 1_000_000;
const MAX_PASSAGES = 1_000_000;
const DEFAULTS: IngestOptions = {
  maxFileBytes: 209_715_200,
  maxPages: 5_000,
  chunk: { min: 200, max: 800 },
  ocr: NO_OCR,
};

/**
 * Opens a library. Rejects with kind `unavailable` if its file or its server cannot be used.
 * @example
 * ```ts
 * import { openLibrary } from "@toolyard/library";
 *
 * await using library = await openLibrary({ file: "books.db" });
 * const { hits } = await library.search("chunk", { query: "truth", limit: 5, filter: {}, minSimilarity: 0 });
 * for (const { passage, score } of hits) console.log(score, passage.text);
 * ```
 */
export async function openLibrary(given: LibraryOptions): Promise<Library> {
  const { file, store: named, embedder, reader, mistral, download, ...options } = given;
  if ((file === undefined) === (named === undefined)) throw new OptionError("Give either `file` or `store`.");
  const address = file === undefined ? parseStore(named!) : ({ kind: "sqlite", file } as const);
  const { folder = folderOf(address), ocr = NO_OCR, ...rest } = options;
  const store = await openStore(address);
  const parts = {
    store,
    embedder,
    options: { ...DEFAULTS, ...rest, ocr: mistral ? ocr : withoutKey(ocr) },
    reader,
    mistral,
    download,
    folder,
  };
  return new Library(parts, isInMemory(address) && options.folder === undefined);
}

/**
 * Returns the folder of the library's own files. It must be private: its files decide which paths a user has added.
 */
function folderOf(address: StoreAddress): string {
  if (isInMemory(address)) return join(tmpdir(), `toolyard-library-${randomUUID()}`);
  if (address.kind === "sqlite") return dirname(address.file);
  const { kind, url, collection } = address;
  const own = createHash("sha256").update(JSON.stringify([kind, url.host, url.pathname, collection]));
  return join(dataFolder(process.env), "library", "servers", own.digest("hex").slice(0, 32));
}

function isInMemory(address: StoreAddress): boolean {
  return address.kind === "sqlite" && address.file === ":memory:";
}

/** A library of documents: adds, searches and quotes them. */
export class Library implements AsyncDisposable {
  readonly #store: LibraryStore;
  readonly #embedder: Embedder | undefined;
  readonly #ingestion: Ingestion;
  readonly #terms = new Terms();
  /** A temporary folder that is removed with the library. */
  readonly #passing: string | undefined;

  constructor(parts: IngestionParts, isPassing = false) {
    this.#passing = isPassing ? parts.folder : undefined;
    this.#store = parts.store;
    this.#embedder = parts.embedder;
    this.#ingestion = new Ingestion(parts);
  }

  /** Jobs that read many documents, independently of the caller. */
  get jobs(): Jobs {
    return this.#ingestion.jobs;
  }

  /**
   * Creates all vectors again with the current embedder. Returns the number of documents. Until it has finished, also
   * after an interruption, passages without a vector are found by their words only.
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
      const given = new Map(passages.map(({ id }, index) => [id, vectors[index]!] as const));
      await this.#store.setVectors(kind, { sourceId, embedder: embedder.id }, given);
    }
  }

  /** Rejects with `INDEX_MISMATCH` if the stored vectors are from another embedder. */
  async #expectOwnVectors(): Promise<void> {
    const found = await this.#store.embedder();
    if (!this.#embedder || found === undefined || found === this.#embedder.id) return;
    throw new DocumentError(
      "INDEX_MISMATCH",
      `The library's vectors are from the embedder ${found}, but the current one is ${this.#embedder.id}. Run ` +
        `\`toolyard library reindex\`.`,
    );
  }

  /** Adds a file or a URL, whole or not at all. Rejects with a `DocumentError`. */
  async add({ path, url, ...rest }: AddRequest): Promise<IngestResult> {
    const source: Source = path === undefined ? { url: url ?? "" } : { path };
    await this.#expectOwnVectors();
    return this.#ingestion.add({ source, ...rest });
  }

  /** Returns the number of documents that another version of the library read. Rejects with the signal's reason. */
  async outdated(signal?: AbortSignal): Promise<number> {
    const { countOutdated } = await import("./moves/outdated.ts");
    return countOutdated(this.#store, signal);
  }

  /** Returns whether a user added this source. */
  isByPerson(source: Source): Promise<boolean> {
    return this.#ingestion.isByPerson(source);
  }

  /**
   * Adds files of these folders when they appear or change, while the library is open. Returns false if another process
   * watches; this one continues when that process has exited.
   */
  watch(roots: readonly string[], onReport?: (report: SourceReport) => void): Promise<boolean> {
    return this.#ingestion.watch(roots, onReport);
  }

  /** Finds passages. If the embedder is unavailable, finds them by words, and explains this in `note`. */
  async search(kind: PassageKind, request: SearchRequest): Promise<PassageHits> {
    await this.#expectOwnVectors();
    let note: string | undefined;
    const parts = { store: this.#store, terms: this.#terms, embedder: this.#embedder };
    const onUnavailable = (message: string): void => {
      note = `Only words were searched, because the vector of the query could not be computed. ${message}`;
    };
    const found = await searchPassages(kind, request, { ...parts, onUnavailable });
    return { ...found, ...(note !== undefined && { note }) };
  }

  find(sourceId: string): Promise<StoredDocument | undefined> {
    return this.#store.document(sourceId);
  }

  /** Returns the document. Rejects with `DOCUMENT_NOT_FOUND`. */
  async document(sourceId: string): Promise<StoredDocument> {
    const document = await this.#store.document(sourceId);
    if (document) return document;
    throw new DocumentError("DOCUMENT_NOT_FOUND", `There is no document ${JSON.stringify(sourceId)} in the library.`);
  }

  /** Returns the text of a page (numbered from 1); undefined if the document or the page does not exist. */
  async pageText(sourceId: string, page: number): Promise<string | undefined> {
    const document = await this.#store.document(sourceId);
    const start = document?.pageStarts[page - 1];
    const text = start && (await this.#store.textOf(sourceId));
    return text?.slice(start!.offset, document!.pageStarts[page]?.offset).trim();
  }

  documents(filter: Filter, window: Window): Promise<{ documents: StoredDocument[]; total: number }> {
    return this.#store.documents(filter, window);
  }

  async range(kind: PassageKind, range: PassageRange): Promise<{ passages: StoredPassage[]; total: number }> {
    await this.document(range.sourceId);
    return this.#store.range(kind, range);
  }

  /** Removes a document. Returns undefined if it does not exist. */
  async remove(sourceId: string): Promise<DeleteResult | undefined> {
    const document = await this.#store.document(sourceId);
    if (document) await this.#ingestion.removed(document.uri);
    return this.#store.deleteDocument(sourceId);
  }

  /** Finds a quotation in one document or in all documents; if it is not found, finds the most similar text. */
  findQuote(quote: string, sourceId?: string, signal?: AbortSignal): Promise<FoundQuote> {
    return findQuote({ quote, sourceId, signal }, { store: this.#store, terms: this.#terms, embedder: undefined });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#ingestion[Symbol.asyncDispose]();
    await this.#store[Symbol.asyncDispose]();
    await (this.#embedder as Partial<AsyncDisposable> | undefined)?.[Symbol.asyncDispose]?.();
    if (this.#passing !== undefined) await rm(this.#passing, { recursive: true, force: true });
  }
}
