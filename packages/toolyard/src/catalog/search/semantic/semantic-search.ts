import { messageOf } from "../../../core/errors.ts";
import type { Embedder } from "../../../core/ports/models.ts";
import type { Logger } from "../../../core/ports/ports.ts";
import { inBackgroundSlices } from "../../../core/timing/slices.ts";
import { within } from "../../../core/timing/wait.ts";
import type { PreparedTool } from "../../source-part.ts";
import type { Evidence } from "../likeness/blend.ts";
import type { EvidenceSource, TableSearch } from "../likeness/table-search.ts";
import { usualOf, type Likeness, type Usual } from "../likeness/common-direction.ts";
import { ModelRows } from "./model-rows.ts";
import { toolTextOf, type ToolText } from "./tool-text.ts";
import { unitVector, VectorStore } from "./vector-store.ts";
import { firstChars } from "../../../core/text/truncate.ts";

/** Maximum number of queries whose vectors are kept. */
const MAX_QUERIES = 500;
const MAX_QUERY_CHARS = 2000;
/**
 * Time limit for the request of one query's vector. A search waits for a shorter time; a later result is used by the
 * next search.
 */
const QUERY_TIMEOUT_MS = 10_000;
/** Maximum number of pending requests for query vectors. Further searches use no vector of the model. */
const MAX_PENDING = 16;
/** Prior mean and deviation. They differ between models, so the prior counts only as much as a few tools. */
export const MODEL_PRIOR: Usual & { readonly rows: number } = { rows: 8, mean: 0.2, deviation: 0.12 };

export interface SemanticSearchOptions {
  readonly embedder: Embedder;
  /** File in which vectors are kept between runs. Absent: they are not kept. */
  readonly file?: string;
  /** Maximum time in milliseconds that one search waits, for the vectors of the tools and of the query together. */
  readonly waitMs: number;
  readonly logger: Logger;
  /**
   * Supplies the neighbours, and replaces the model's evidence if the model answers too late. It is closed together
   * with this search.
   */
  readonly table: TableSearch;
}

/** Similarity by a remote model. No request is sent before the first search. */
export class SemanticSearch implements EvidenceSource {
  readonly #embedder: Embedder;
  readonly #waitMs: number;
  readonly #logger: Logger;
  readonly #store: VectorStore;
  readonly #table: TableSearch;
  readonly #queries = new Map<string, Float32Array>();
  readonly #pending = new Map<string, Promise<Float32Array | undefined>>();
  readonly #closing = new AbortController();
  /** Rows of lists with complete vectors. */
  readonly #rows = new WeakMap<readonly PreparedTool[], ModelRows>();
  readonly #reading = new Map<readonly PreparedTool[], Promise<ModelRows | undefined>>();

  constructor({ embedder, file, waitMs, logger, table }: SemanticSearchOptions) {
    this.#embedder = embedder;
    this.#waitMs = waitMs;
    this.#logger = logger;
    this.#table = table;
    this.#store = new VectorStore({ embedder, logger, ...(file !== undefined && { file }) });
  }

  /**
   * Returns the table's evidence with the similarities of the model. Until the vectors of the tools and of the query
   * are available, returns the table's evidence alone.
   */
  async evidence(query: string, tools: readonly PreparedTool[]): Promise<Evidence | undefined> {
    const told = within(this.#likeness(query, tools), this.#waitMs);
    const [likeness, others] = await Promise.all([told, this.#table.evidence(query, tools)]);
    return likeness ? { ...others, likeness } : others;
  }

  /** Continues after the search has stopped waiting, so that the next search can use the result. */
  async #likeness(query: string, tools: readonly PreparedTool[]): Promise<Likeness | undefined> {
    const rows = this.#rows.get(tools) ?? (await (this.#reading.get(tools) ?? this.#read(tools)));
    if (!rows) return undefined;
    const wanted = await this.#vectorOf(firstChars(query.trim(), MAX_QUERY_CHARS));
    if (!wanted) return undefined;
    const cosines = rows.cosinesTo(wanted);
    if (cosines) return { cosines, ...usualOf(cosines, MODEL_PRIOR) };
    // A vector of another length is from another model with the same name.
    this.#rows.delete(tools);
    this.#queries.clear();
    this.#store.forget();
    return undefined;
  }

  /** Reads the vectors in slices, so that other work is not delayed. Returns `undefined` if a vector is missing. */
  #read(tools: readonly PreparedTool[]): Promise<ModelRows | undefined> {
    const reading = inBackgroundSlices(this.#steps(tools), () => !this.#closing.signal.aborted)
      .then((rows) => {
        if (rows) this.#rows.set(tools, rows);
        return rows;
      })
      .finally(() => this.#reading.delete(tools));
    this.#reading.set(tools, reading);
    return reading;
  }

  *#steps(tools: readonly PreparedTool[]): Generator<void, ModelRows | undefined> {
    const texts: ToolText[] = [];
    for (const tool of tools) {
      texts.push(toolTextOf(tool));
      yield;
    }
    this.#store.want(texts);
    return yield* ModelRows.steps(texts.map(({ key }) => this.#store.get(key)));
  }

  /** Waits until no vectors of tools are being loaded. */
  async settled(): Promise<void> {
    await Promise.all([...this.#reading.values(), this.#table.settled()]);
    await this.#store.settled();
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await Promise.all([this.#store.close(), this.#table.close(), ...this.#pending.values(), ...this.#reading.values()]);
  }

  async #vectorOf(query: string): Promise<Float32Array | undefined> {
    return this.#queries.get(query) ?? this.#pending.get(query) ?? this.#ask(query);
  }

  /**
   * Requests the vector of a query. Continues after the search has stopped waiting, because the same query is likely to
   * be repeated.
   */
  #ask(query: string): Promise<Float32Array | undefined> | undefined {
    if (this.#pending.size >= MAX_PENDING) return undefined;
    const signal = AbortSignal.any([this.#closing.signal, AbortSignal.timeout(QUERY_TIMEOUT_MS)]);
    const asked = this.#embedder
      .embed([query], signal)
      .then(([numbers]) => this.#remember(query, unitVector(numbers ?? [])))
      .catch((error: unknown) => {
        if (!this.#closing.signal.aborted)
          this.#logger.debug("The embedding model returned no vector for a query.", { error: messageOf(error) });
        return undefined;
      })
      .finally(() => this.#pending.delete(query));
    this.#pending.set(query, asked);
    return asked;
  }

  #remember(query: string, vector: Float32Array): Float32Array {
    if (this.#queries.size >= MAX_QUERIES) this.#queries.delete(this.#queries.keys().next().value!);
    this.#queries.set(query, vector);
    return vector;
  }
}
