import type { Embedder } from "../search/embedder.ts";
import { searchPassages } from "../search/search.ts";
import { Terms } from "../search/terms.ts";
import type { LibraryStore } from "../store/store.ts";

export interface QueryTimings {
  readonly questions: number;
  /** Durations in milliseconds. */
  readonly first: number;
  readonly median: number;
  /** 99th percentile. */
  readonly most: number;
}

export interface TimingOptions {
  readonly embedder?: Embedder | undefined;
  readonly signal: AbortSignal;
}

/** Measures the search time of each question, in sequence. Returns undefined if there is no question. */
export async function timeSearches(
  store: LibraryStore,
  queries: readonly string[],
  { embedder, signal }: TimingOptions,
): Promise<QueryTimings | undefined> {
  const terms = new Terms();
  const times: number[] = [];
  for (const query of queries) {
    signal.throwIfAborted();
    const since = performance.now();
    await searchPassages("chunk", { query, limit: 10, filter: {}, minSimilarity: 0 }, { store, terms, embedder });
    times.push(performance.now() - since);
  }
  const [first] = times;
  if (first === undefined) return undefined;
  const ordered = times.slice(1).toSorted((one, other) => one - other);
  const at = (share: number): number => ordered[Math.floor((ordered.length - 1) * share)] ?? first;
  return { questions: times.length, first, median: at(0.5), most: at(0.99) };
}
