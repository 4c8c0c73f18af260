import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { downloadPublic, FailError, VERSION, type Download } from "toolyard";
import type { FoundMetadata } from "../documents/block.ts";
import { DocumentError } from "../documents/document-error.ts";
import { openFolders, type FilePolicy } from "../documents/open-folders.ts";
import type { OcrWish } from "../documents/ocr/ocr.ts";
import { ReaderProcess, type ReaderBounds } from "../reading/reader-process.ts";
import type { Embedder } from "../search/embedder.ts";
import type { LibraryStore } from "../store/store.ts";
import { ByPerson } from "./by-person.ts";
import { FileDigests } from "./file-digests.ts";
import { ingest, type IngestResult, type IngestOptions } from "./ingest.ts";
import { Jobs, type JobReport, type SourceReport } from "./jobs.ts";
import type { MistralOcr } from "./mistral-ocr.ts";
import { RemovedSources } from "./removed.ts";
import { nameOfSource, type Source } from "./sources.ts";
import { Watch } from "./watch.ts";

export interface IngestionParts {
  readonly store: LibraryStore;
  readonly embedder: Embedder | undefined;
  readonly options: IngestOptions;
  readonly reader?: Partial<ReaderBounds> | undefined;
  /** Folder of the jobs and of the watch lease. */
  readonly folder: string;
  readonly mistral?: MistralOcr | undefined;
  /** Fetches a URL. @default from the public internet */
  readonly download?: ((url: URL, signal: AbortSignal) => Promise<Download>) | undefined;
}

export interface AddSourceRequest {
  readonly source: Source;
  readonly metadata?: FoundMetadata;
  /** OCR setting. @default the library's OCR setting */
  readonly ocr?: OcrWish;
  readonly signal?: AbortSignal;
  readonly onPage?: (done: number, total: number) => void;
  /** True if a user selected the source; tools may then read it again. @default false */
  readonly isByPerson?: boolean;
  /** True if access was granted for this real path: a symbolic link at the path is refused. @default false */
  readonly isReal?: boolean;
}

/** Adds documents to a library: single sources, jobs and watched folders. */
export class Ingestion implements AsyncDisposable {
  readonly jobs: Jobs;
  readonly #parts: IngestionParts;
  readonly #reader: ReaderProcess;
  readonly #removed: RemovedSources;
  readonly #byPerson: ByPerson;
  readonly #digests: FileDigests;
  /** URIs of the sources that are being read. A second request for the same source is refused. */
  readonly #reading = new Set<string>();
  #watch: Watch | undefined;

  constructor(parts: IngestionParts) {
    this.#parts = parts;
    this.#reader = new ReaderProcess(parts.reader);
    this.#removed = new RemovedSources(join(parts.folder, "removed.json"));
    this.#byPerson = new ByPerson(join(parts.folder, "by-person.jsonl"));
    this.#digests = new FileDigests(join(parts.folder, "digests.jsonl"));
    // Access was granted for the resolved path; it must still be the real path when the job reads it.
    this.jobs = new Jobs(join(parts.folder, "jobs"), (request) => this.add({ ...request, isReal: true }));
  }

  /** Reads one source into the library, as a whole or not at all. Rejects with a `DocumentError`. */
  async add({
    source,
    signal = new AbortController().signal,
    isByPerson = false,
    isReal = false,
    ...rest
  }: AddSourceRequest): Promise<IngestResult> {
    const name = nameOfSource(source);
    if (this.#reading.has(name))
      throw new DocumentError(
        "VALIDATION_ERROR",
        `${name} is already being read. Wait until that is finished.`,
        "already_ingesting",
      );
    this.#reading.add(name);
    try {
      const ingested =
        "path" in source
          ? await this.#ingest({ path: source.path, isReal, signal, ...rest })
          : await this.#addAddress(new URL(source.url), { signal, ...rest });
      await this.#removed.delete(ingested.document.uri).catch(() => {});
      if (isByPerson) await this.#byPerson.add(uriOf(source)).catch(() => {});
      return ingested;
    } finally {
      this.#reading.delete(name);
    }
  }

  /** Returns whether a user added this source. */
  isByPerson(source: Source): Promise<boolean> {
    return this.#byPerson.has(uriOf(source));
  }

  /** Records that a user removed a document, so that watching a folder does not add it again. */
  async removed(uri: string): Promise<void> {
    await this.#removed.add(uri).catch(() => {});
  }

  /** Adds files of these folders when they appear or change. Returns false if another process watches. */
  async watch(roots: readonly string[], onReport?: (report: SourceReport) => void): Promise<boolean> {
    const begun = { files: openFolders(roots), onProgress: onReport && newReports(onReport) };
    const onFiles = (paths: readonly string[]): Promise<void> => this.#watched(paths, begun);
    this.#watch ??= new Watch({ roots, folder: this.#parts.folder, onFiles });
    await this.#watch.start();
    return this.#watch.isWatching;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#watch?.[Symbol.asyncDispose]();
    await this.jobs[Symbol.asyncDispose]();
    await this.#reader[Symbol.asyncDispose]();
    await this.#parts.mistral?.[Symbol.asyncDispose]();
  }

  async #watched(paths: readonly string[], { files, onProgress }: IngestContext): Promise<void> {
    const removed = await this.#removed.uris();
    // The watcher reports symbolic links like files, so the real paths are resolved.
    const real = await Promise.all(paths.map((path) => files.resolve(path).catch(() => undefined)));
    const sources = real
      .filter((path) => path !== undefined)
      .filter((path) => !removed.has(pathToFileURL(path).href))
      .map((path) => ({ path }));
    // If there are too many jobs, the next sweep adds the files.
    if (sources.length > 0) await this.jobs.begin({ sources, ...(onProgress && { onProgress }) });
  }

  #ingest(request: Parameters<typeof ingest>[0]): Promise<IngestResult> {
    const { store, embedder, options, mistral } = this.#parts;
    const onOcr = mistral && mistral.read.bind(mistral);
    const [reader, digests] = [this.#reader, this.#digests];
    return ingest(request, { store, embedder, options, reader, digests, ...(onOcr && { onOcr }) });
  }

  async #addAddress(url: URL, request: Omit<Parameters<typeof ingest>[0], "path" | "isReal">): Promise<IngestResult> {
    const { body, mime } = await this.#download(url, request.signal);
    const folder = await mkdtemp(join(tmpdir(), "toolyard-library-"));
    try {
      const path = join(folder, "download");
      await writeFile(path, body, { mode: 0o600 });
      return await this.#ingest({
        path,
        isReal: false,
        uri: url.href,
        ...(mime !== undefined && { mime }),
        ...request,
      });
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  }

  async #download(url: URL, signal: AbortSignal): Promise<Download> {
    const { download, options } = this.#parts;
    try {
      if (download) return await download(url, signal);
      const userAgent = `toolyard/${VERSION} (library)`;
      return await downloadPublic(url, { userAgent, maxBytes: options.maxFileBytes, signal });
    } catch (error) {
      if (signal.aborted || !(error instanceof FailError)) throw error;
      const code = error.failure.kind === "denied" ? "ACCESS_DENIED" : "DOWNLOAD_ERROR";
      throw new DocumentError(code, error.message, error.failure.kind);
    }
  }
}

interface IngestContext {
  readonly files: FilePolicy;
  readonly onProgress?: ((report: JobReport) => void) | undefined;
}

/** Reports each source once, when it has been read. */
function newReports(onReport: (report: SourceReport) => void): (report: JobReport) => void {
  const told = new Map<string, number>();
  return ({ job_id: id, sources, state }) => {
    for (const report of sources.slice(told.get(id) ?? 0)) onReport(report);
    told.set(id, sources.length);
    if (state === "done" || state === "cancelled") told.delete(id);
  };
}

function uriOf(source: Source): string {
  return "path" in source ? pathToFileURL(source.path).href : source.url;
}
