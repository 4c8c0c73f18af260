import { messageOf } from "../../../core/errors.ts";
import type { Embedder } from "../../../core/models.ts";
import type { Logger } from "../../../core/ports.ts";
import { within } from "../../../core/wait.ts";
import type { PreparedTool } from "../../source-part.ts";
import { toolTextOf } from "./tool-text.ts";
import { unitVector, VectorStore } from "./vector-store.ts";

/** Queries whose vectors are kept. */
const MAX_QUERIES = 500;
const MAX_QUERY_CHARS = 2000;
/** Bound of one query's request; a search that does not wait so long has it the next time. */
const QUERY_TIMEOUT_MS = 10_000;
/** Queries that may be asked about at once; further searches do without. */
const MAX_PENDING = 16;

export interface SemanticSearchOptions {
  readonly embedder: Embedder;
  /** Where vectors are kept between two runs; absent: nowhere. */
  readonly file?: string;
  /** Longest time that one search waits for the vector of its query. */
  readonly waitMs: number;
  readonly logger: Logger;
}

/** What is ranked. */
export interface Choice {
  /** The tools to have vectors of. */
  readonly all: readonly PreparedTool[];
  /** Those of them to choose from. */
  readonly permitted: readonly PreparedTool[];
  /** How many are chosen. */
  readonly limit: number;
}

/** The order of tools by how alike query and tool are. Nothing is asked for before the first search. */
export class SemanticSearch {
  readonly #embedder: Embedder;
  readonly #waitMs: number;
  readonly #logger: Logger;
  readonly #store: VectorStore;
  readonly #queries = new Map<string, Float32Array>();
  readonly #pending = new Map<string, Promise<Float32Array | undefined>>();
  readonly #closing = new AbortController();

  constructor({ embedder, file, waitMs, logger }: SemanticSearchOptions) {
    this.#embedder = embedder;
    this.#waitMs = waitMs;
    this.#logger = logger;
    this.#store = new VectorStore({ embedder, logger, ...(file !== undefined && { file }) });
  }

  /** The tools most like the query, best first; undefined when that cannot be said in time. */
  async rank(query: string, { all, permitted, limit }: Choice): Promise<readonly PreparedTool[] | undefined> {
    this.#store.want(all.map(toolTextOf));
    const known = permitted.flatMap((tool) => {
      const vector = this.#store.get(toolTextOf(tool).key);
      return vector ? [{ tool, vector }] : [];
    });
    if (known.length === 0) return undefined;
    const wanted = await this.#vectorOf(query.trim().slice(0, MAX_QUERY_CHARS));
    if (!wanted) return undefined;
    return known
      .map(({ tool, vector }) => ({ tool, likeness: product(wanted, vector) }))
      .toSorted((a, b) => b.likeness - a.likeness || (a.tool.key < b.tool.key ? -1 : 1))
      .slice(0, limit)
      .map(({ tool }) => tool);
  }

  /** Waits until no vector of a tool is being loaded. */
  settled(): Promise<void> {
    return this.#store.settled();
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await Promise.all([this.#store.close(), ...this.#pending.values()]);
  }

  async #vectorOf(query: string): Promise<Float32Array | undefined> {
    const known = this.#queries.get(query);
    if (known) return known;
    const asked = this.#pending.get(query) ?? this.#ask(query);
    return asked && within(asked, this.#waitMs);
  }

  /** Asks on even when the search no longer waits: the same words are asked for again. */
  #ask(query: string): Promise<Float32Array | undefined> | undefined {
    if (this.#pending.size >= MAX_PENDING) return undefined;
    const signal = AbortSignal.any([this.#closing.signal, AbortSignal.timeout(QUERY_TIMEOUT_MS)]);
    const asked = this.#embedder
      .embed([query], signal)
      .then(([numbers]) => this.#remember(query, unitVector(numbers ?? [])))
      .catch((error: unknown) => {
        if (!this.#closing.signal.aborted)
          this.#logger.debug("The embedding of a query could not be had.", { error: messageOf(error) });
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

/** Of unit vectors: 1 for the same direction. Vectors of another length are of another model and like nothing. */
function product(a: Float32Array, b: Float32Array): number {
  if (a.length !== b.length) return -1;
  let sum = 0;
  for (let at = 0; at < a.length; at += 1) sum += a[at]! * b[at]!;
  return sum;
}
