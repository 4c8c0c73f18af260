import { messageOf } from "../../../core/errors.ts";
import type { TextEmbedder } from "../../../core/ports/models.ts";
import type { Logger } from "../../../core/ports/ports.ts";
import { inBackgroundSlices } from "../../../core/timing/slices.ts";
import { within } from "../../../core/timing/wait.ts";
import type { PreparedTool } from "../../source-part.ts";
import type { Evidence } from "./blend.ts";
import { Neighbours } from "./neighbours.ts";
import { toolVectorsOf } from "./tool-vectors.ts";
import { VectorRows } from "./vector-rows.ts";
import { firstChars } from "../../../core/text/truncate.ts";

const MAX_QUERY_CHARS = 2000;

/** Source of evidence about the tools that match a query, besides words. */
export interface EvidenceSource {
  /**
   * Returns the evidence for `tools`, which are in the order of their ranks. The caller passes the same list object
   * while nothing changes. Never rejects.
   */
  evidence(query: string, tools: readonly PreparedTool[]): Promise<Evidence | undefined>;
  close(): Promise<void>;
}

export interface TableSearchOptions {
  /** Called once, by the first search. */
  readonly load: () => Promise<TextEmbedder>;
  /** Maximum time in milliseconds that one search waits for the tools' vectors. */
  readonly waitMs: number;
  readonly logger: Logger;
}

/** Vectors of one list of tools. */
interface SearchTable {
  readonly tools: readonly PreparedTool[];
  readonly embedder: TextEmbedder;
  readonly vectors: VectorRows;
  neighbours?: Neighbours;
}

type Job = Promise<SearchTable | undefined>;

/** Maximum number of lists that are being prepared. A further list cancels the oldest preparation. */
const MAX_JOBS = 8;
/** Maximum number of tools for which neighbours are computed, because each tool is compared with all others. */
const MAX_NEIGHBOURLY = 12_000;

/**
 * Similarity by an embedder in this process. Tools are embedded by the first search, and new tools by the next search;
 * afterwards their neighbours are found. Both run in slices, so that other work is not delayed. Callers that see
 * different tools have separate lists.
 */
export class TableSearch implements EvidenceSource {
  readonly #options: TableSearchOptions;
  readonly #closing = new AbortController();
  readonly #known = new WeakMap<readonly PreparedTool[], SearchTable>();
  /**
   * Preparations by list. Each is kept until its neighbours are found, or permanently if the table of token vectors
   * cannot be read.
   */
  readonly #jobs = new Map<readonly PreparedTool[], Job>();
  readonly #running = new Set<Promise<unknown>>();
  /** Neighbours of the last completed preparation. */
  #latest: Neighbours | undefined;

  constructor(options: TableSearchOptions) {
    this.#options = options;
  }

  async evidence(query: string, tools: readonly PreparedTool[]): Promise<Evidence | undefined> {
    const prepared = await this.prepare(tools);
    if (!prepared) return undefined;
    const likeness = prepared.vectors.likenessTo(prepared.embedder.embed(firstChars(query, MAX_QUERY_CHARS)));
    return { likeness, ...(prepared.neighbours && { neighbours: prepared.neighbours }) };
  }

  /** Returns the vectors of these tools if they are available in time, otherwise `undefined`. */
  async prepare(tools: readonly PreparedTool[]): Promise<SearchTable | undefined> {
    const known = this.#known.get(tools);
    const isWhole = known && (known.neighbours !== undefined || tools.length > MAX_NEIGHBOURLY);
    const job = isWhole || this.#closing.signal.aborted ? undefined : (this.#jobs.get(tools) ?? this.#begin(tools));
    return known ?? (job && within(job, this.#options.waitMs));
  }

  /** Waits until no preparation is running. */
  async settled(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running);
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.settled();
  }

  #begin(tools: readonly PreparedTool[]): Job {
    const first = this.#jobs.size >= MAX_JOBS ? this.#jobs.keys().next().value : undefined;
    if (first) this.#jobs.delete(first);
    const isWanted = (): boolean => this.#jobs.get(tools) === job && !this.#closing.signal.aborted;
    const job: Job = this.#embed(tools, () => isWanted());
    this.#jobs.set(tools, job);
    const end = this.#finish(job, isWanted).finally(() => this.#running.delete(end));
    this.#running.add(end);
    return job;
  }

  /** Finds each tool's most similar tools of other servers. Reuses results of the last completed preparation. */
  async #finish(job: Job, isWanted: () => boolean): Promise<void> {
    const prepared = await job;
    if (!prepared) return;
    const { tools, vectors } = prepared;
    if (tools.length <= MAX_NEIGHBOURLY) {
      const found = await inBackgroundSlices(Neighbours.find(tools, vectors, this.#latest), isWanted);
      if (!found) return;
      this.#latest = prepared.neighbours = found;
    }
    if (isWanted()) this.#jobs.delete(tools);
  }

  async #embed(tools: readonly PreparedTool[], isWanted: () => boolean): Job {
    const known = this.#known.get(tools);
    if (known) return known;
    try {
      const embedder = await this.#options.load();
      const vectors = await inBackgroundSlices(embedAll(tools, embedder), isWanted);
      if (!vectors) return undefined;
      const prepared = { tools, embedder, vectors };
      this.#known.set(tools, prepared);
      return prepared;
    } catch (error) {
      this.#options.logger.warning("The table of token vectors cannot be read; search uses words only.", {
        error: messageOf(error),
      });
      return undefined;
    }
  }
}

function* embedAll(tools: readonly PreparedTool[], embedder: TextEmbedder): Generator<void, VectorRows> {
  const rows = new VectorRows(tools.length, embedder.dimensions);
  for (const [rank, tool] of tools.entries()) {
    rows.set(rank, toolVectorsOf(tool, embedder));
    yield;
  }
  return rows;
}
