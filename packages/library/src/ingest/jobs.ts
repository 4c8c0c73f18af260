import { randomUUID } from "node:crypto";
import { readdir, readFile, rm, stat, utimes } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import { FailError } from "toolyard";
import { DocumentError } from "../documents/document-error.ts";
import type { FoundMetadata } from "../documents/block.ts";
import type { OcrWish } from "../documents/ocr/ocr.ts";
import type { IngestResult } from "./ingest.ts";
import { writeKept } from "./kept-file.ts";
import { isAlive } from "./lease.ts";
import { nameOfSource, type Source } from "./sources.ts";

export type JobState = "waiting" | "running" | "done" | "cancelled" | "interrupted";

export interface SourceReport {
  readonly source: string;
  readonly status: "added" | "updated" | "unchanged" | "failed";
  readonly source_id?: string;
  readonly chunks_count?: number;
  readonly cost_ocr?: number;
  readonly ocr_pages?: number;
  /** Parts that the reader repaired or left out. Absent: none. */
  readonly warnings?: readonly string[];
  readonly error?: string;
  readonly code?: string;
  readonly reason?: string;
}

export interface JobReport {
  readonly job_id: string;
  readonly state: JobState;
  /** Number of sources done, and total number of sources. */
  readonly done: number;
  readonly total: number;
  /** Source that is being read, with the current page. */
  readonly at?: { readonly source: string; readonly page: number; readonly pages: number };
  readonly sources: readonly SourceReport[];
  readonly created: string;
}

/** A job as it is stored on disk. */
interface JobRecord {
  readonly id: string;
  readonly created: string;
  readonly owner: { readonly pid: number; readonly host: string };
  readonly sources: readonly Source[];
  /** Present while the sources are still unknown; another process cannot continue such a job. */
  readonly isSearching?: true;
  readonly metadata?: FoundMetadata;
  readonly ocr?: OcrWish;
  readonly reports: readonly SourceReport[];
  readonly state: JobState;
}

/** A running search for files. */
export interface SourceSearch {
  /** Name of the search for sources, for reports. */
  readonly name: string;
  readonly found: Promise<readonly Source[]>;
  cancel(reason: unknown): void;
}

export interface JobRequest {
  readonly sources: readonly Source[] | SourceSearch;
  readonly metadata?: FoundMetadata;
  readonly ocr?: OcrWish;
  /** Runs concurrently with the other jobs instead of after them. @default false */
  readonly isUrgent?: boolean;
  readonly onProgress?: (report: JobReport) => void;
}

export type AddSource = (request: {
  readonly source: Source;
  readonly metadata?: FoundMetadata;
  readonly ocr?: OcrWish;
  readonly signal: AbortSignal;
  readonly onPage: (done: number, total: number) => void;
}) => Promise<IngestResult>;

/** Maximum number of finished jobs that are kept, and of open jobs. */
const MAX_KEPT = 100;
const MAX_OPEN = 100;
const HEARTBEAT_MS = 10_000;
/** Sources may be many and small, so progress is saved at most once per interval. */
const SAVE_EVERY_MS = 1000;
/** A job whose owner sent no sign of life for this time, and whose process has exited, is taken over. */
const STALE_MS = 30_000;

class Job {
  kept: JobRecord;
  search: SourceSearch | undefined;
  savedAt = 0;
  at: JobReport["at"];
  readonly cancelled = new AbortController();
  readonly listeners = new Set<(report: JobReport) => void>();
  readonly ended: Promise<JobReport>;
  end!: (report: JobReport) => void;

  constructor(kept: JobRecord) {
    this.kept = kept;
    this.ended = new Promise((done) => (this.end = done));
  }

  report(): JobReport {
    const { id, state, sources, reports, created } = this.kept;
    const where = this.at && { at: this.at };
    return { job_id: id, state, done: reports.length, total: sources.length, ...where, sources: reports, created };
  }

  tell(): void {
    for (const listener of this.listeners) listener(this.report());
  }
}

/**
 * Reads many sources in sequence, independently of the caller. Each document is stored whole or not at all. Documents
 * are identified by their bytes, so another process can continue a job whose process exited.
 */
export class Jobs implements AsyncDisposable {
  readonly #folder: string;
  readonly #add: AddSource;
  readonly #jobs = new Map<string, Job>();
  #last: Promise<unknown> = Promise.resolve();
  readonly #beat: NodeJS.Timeout;

  constructor(folder: string, add: AddSource) {
    this.#folder = folder;
    this.#add = add;
    this.#beat = setInterval(() => void this.#touch(), HEARTBEAT_MS).unref();
  }

  /** Returns whether a job of this process is running. */
  get isBusy(): boolean {
    return Array.from(this.#jobs.values()).some(({ kept }) => isOpen(kept.state));
  }

  /** Starts a job. Returns its first report, without waiting for its end. */
  async begin({ sources, metadata, ocr, isUrgent = false, onProgress }: JobRequest): Promise<JobReport> {
    const open = Array.from(this.#jobs.values()).filter(({ kept }) => isOpen(kept.state));
    if (open.length >= MAX_OPEN)
      throw new DocumentError(
        "TOO_LARGE",
        `${MAX_OPEN} jobs are already running or waiting, which is the limit. Try again later.`,
      );
    const job = new Job({
      id: randomUUID(),
      created: new Date().toISOString(),
      owner: { pid: process.pid, host: hostname() },
      sources: "found" in sources ? [] : sources,
      ...("found" in sources && { isSearching: true as const }),
      reports: [],
      state: "waiting",
      ...(metadata && { metadata }),
      ...(ocr && { ocr }),
    });
    if (onProgress) job.listeners.add(onProgress);
    if ("found" in sources) job.search = sources;
    await this.#take(job, isUrgent);
    return job.report();
  }

  /** Resolves with the final report of a job of this process; undefined for other jobs. */
  ended(id: string): Promise<JobReport> | undefined {
    return this.#jobs.get(id)?.ended;
  }

  cancel(id: string): void {
    this.#jobs.get(id)?.cancelled.abort(new DocumentError("VALIDATION_ERROR", "The job was cancelled.", "cancelled"));
  }

  /** Returns the jobs of all processes, latest first. */
  async reports(): Promise<JobReport[]> {
    const others = (await this.#load()).filter(({ id }) => !this.#jobs.has(id)).map((kept) => new Job(kept).report());
    const own = Array.from(this.#jobs.values(), (job) => job.report());
    return [...own, ...others].toSorted((one, other) => other.created.localeCompare(one.created));
  }

  async report(id: string): Promise<JobReport | undefined> {
    return (await this.reports()).find((report) => report.job_id === id);
  }

  /** Continues the jobs of exited processes. Returns the number of jobs. */
  async resume(now = Date.now()): Promise<number> {
    const left = (await this.#load()).filter(({ id, state }) => isOpen(state) && !this.#jobs.has(id));
    let taken = 0;
    for (const kept of left) {
      if (!(await this.#isLeft(kept, now))) continue;
      if (kept.isSearching) {
        await this.#save(new Job({ ...kept, state: "cancelled" }));
        continue;
      }
      taken += 1;
      await this.#take(new Job({ ...kept, owner: { pid: process.pid, host: hostname() }, state: "waiting" }));
    }
    return taken;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#beat);
    for (const { cancelled } of this.#jobs.values()) cancelled.abort(CLOSED);
    await this.#last;
  }

  async #take(job: Job, isUrgent = false): Promise<void> {
    this.#jobs.set(job.kept.id, job);
    await this.#save(job);
    const run = isUrgent ? this.#run(job) : this.#last.then(() => this.#run(job));
    this.#last = isUrgent ? bothOf(this.#last, run) : run;
  }

  async #run(job: Job): Promise<void> {
    const { signal } = job.cancelled;
    job.kept = { ...job.kept, state: "running" };
    await this.#search(job);
    for (const source of job.kept.sources.slice(job.kept.reports.length)) {
      if (signal.aborted) break;
      job.tell();
      const report = await this.#addOne(job, source);
      if (report) job.kept = { ...job.kept, reports: [...job.kept.reports, report] };
      job.at = undefined;
      if (performance.now() - job.savedAt > SAVE_EVERY_MS) await this.#save(job);
    }
    const state = !signal.aborted ? "done" : signal.reason === CLOSED ? "interrupted" : "cancelled";
    job.kept = { ...job.kept, state };
    await this.#save(job);
    job.tell();
    job.end(job.report());
    await this.#forget();
  }

  /** Waits for the sources of a job that was started before they were known. */
  async #search(job: Job): Promise<void> {
    const { search } = job;
    if (!search) return;
    const { signal } = job.cancelled;
    const cancel = (): void => search.cancel(signal.reason);
    signal.addEventListener("abort", cancel, { once: true });
    if (signal.aborted) cancel();
    job.at = { source: search.name, page: 0, pages: 0 };
    job.tell();
    const { isSearching: _, ...kept } = job.kept;
    try {
      job.kept = { ...kept, sources: await search.found };
    } catch (error) {
      // A job that was cancelled during its search is stored as cancelled, so that no process resumes it without
      // sources.
      if (!signal.aborted) job.kept = { ...kept, sources: [], reports: [failed(search.name, error)] };
    }
    signal.removeEventListener("abort", cancel);
    job.at = undefined;
    await this.#save(job);
  }

  async #addOne(job: Job, source: Source): Promise<SourceReport | undefined> {
    const name = nameOfSource(source);
    const onPage = (page: number, pages: number): void => {
      job.at = { source: name, page, pages };
      job.tell();
    };
    const { metadata, ocr } = job.kept;
    const how = { ...(metadata && { metadata }), ...(ocr && { ocr }) };
    try {
      const { signal } = job.cancelled;
      const { status, document, costOcr, ocrPages } = await this.#add({ source, signal, onPage, ...how });
      const cost = { ...(costOcr > 0 && { cost_ocr: costOcr }), ...(ocrPages > 0 && { ocr_pages: ocrPages }) };
      const { sourceId, chunks, warnings } = document;
      const told = warnings.length > 0 && { warnings };
      return { source: name, status, source_id: sourceId, chunks_count: chunks, ...cost, ...told };
    } catch (error) {
      return job.cancelled.signal.aborted ? undefined : failed(name, error);
    }
  }

  #place(id: string): string {
    return join(this.#folder, `${id}.json`);
  }

  // If the folder is not writable, the job runs, but no other process can continue it.
  async #save(job: Job): Promise<void> {
    const { kept } = job;
    job.savedAt = performance.now();
    await writeKept(this.#place(kept.id), kept, { isSynced: false }).catch(() => {});
  }

  async #load(): Promise<JobRecord[]> {
    const names = await readdir(this.#folder).catch(() => []);
    const found = await Promise.all(
      names
        .filter((name) => name.endsWith(".json"))
        .map(async (name) => readFile(join(this.#folder, name), "utf8").then(keptIn, () => undefined)),
    );
    return found.filter((kept) => kept !== undefined);
  }

  async #isLeft({ owner, id }: JobRecord, now: number): Promise<boolean> {
    // In a container, each process may have the same process id as the previous one.
    if (owner.host === hostname()) return owner.pid === process.pid || !isAlive(owner.pid);
    const { mtimeMs } = await stat(this.#place(id));
    return now - mtimeMs > STALE_MS;
  }

  async #touch(): Promise<void> {
    const now = new Date();
    for (const { kept } of this.#jobs.values())
      if (isOpen(kept.state)) await utimes(this.#place(kept.id), now, now).catch(() => {});
  }

  async #forget(): Promise<void> {
    const over = (await this.reports()).filter(({ state }) => !isOpen(state)).slice(MAX_KEPT);
    for (const { job_id: id } of over) {
      this.#jobs.delete(id);
      await rm(this.#place(id), { force: true }).catch(() => {});
    }
  }
}

const CLOSED = new Error("closed");

function failed(source: string, error: unknown): SourceReport {
  const isOurs = error instanceof DocumentError;
  const code = isOurs ? error.code : error instanceof FailError ? error.failure.kind : "internal";
  const reason = isOurs && error.reason !== undefined && { reason: error.reason };
  return { source, status: "failed", error: (error as Error).message, code, ...reason };
}

/** Resolves without the values: returning them would retain the values of all earlier promises. */
async function bothOf(first: Promise<unknown>, second: Promise<unknown>): Promise<void> {
  await Promise.all([first, second]);
}

function isOpen(state: JobState): boolean {
  return state === "waiting" || state === "running" || state === "interrupted";
}

/** Returns the stored job; undefined if the file is not a job record. */
function keptIn(text: string): JobRecord | undefined {
  try {
    const kept = JSON.parse(text) as JobRecord;
    return typeof kept.id === "string" && Array.isArray(kept.sources) && Array.isArray(kept.reports) ? kept : undefined;
  } catch {
    return undefined;
  }
}
