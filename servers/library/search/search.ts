import type { Filter, LibraryStore, PassageKind, StoredPassage } from "../store/store.ts";
import type { Embedder } from "./embedder.ts";
import { frequencyOf, scoreBm25, selectiveTerms } from "./bm25.ts";
import type { Terms } from "./terms.ts";

export interface SearchRequest {
  readonly query: string;
  readonly limit: number;
  readonly filter: Filter;
  /** Cosine below which nothing is given. */
  readonly minSimilarity: number;
  /** Levels of summaries. Absent: all. */
  readonly levels?: readonly [least: number, most: number];
}

export interface Hit {
  readonly passage: StoredPassage;
  /** Cosine; 0 where there are no vectors to compare. */
  readonly similarity: number;
  /** What the order is by: words and vectors together. */
  readonly score: number;
}

export interface Found {
  readonly hits: readonly Hit[];
  /** Passages that hold any of the words, and those that are near; `hits` are the first of them. */
  readonly matches: number;
}

export interface SearchParts {
  readonly store: LibraryStore;
  readonly terms: Terms;
  readonly embedder: Embedder | undefined;
}

/** Passages that each of words and vectors proposes, for each one that is wanted. */
const PROPOSED_EACH = 5;
const MIN_PROPOSED = 50;
/** How much of the order is by words; the rest is by the vectors. */
const WORDS = 0.7;
/** Four decimals, so that stores that differ in the last bits give one order. */
const ROUNDING = 10_000;

/** Finds passages by words and by meaning, best first; those that are as good by document and place. */
export async function searchPassages(
  kind: PassageKind,
  { query, limit, filter, minSimilarity, levels }: SearchRequest,
  { store, terms, embedder }: SearchParts,
): Promise<Found> {
  const languages = await store.languages();
  await terms.load(languages);
  // Stores know no levels, so whoever wants some of them is shown all.
  const wanted = levels ? Number.MAX_SAFE_INTEGER : Math.max(MIN_PROPOSED, limit * PROPOSED_EACH);
  const words = await byWords(kind, terms.groupsOf(query, languages), { store, filter, wanted });
  const [vector] = embedder ? await embedder.embed([query], "query") : [];
  const near = vector ? await store.nearest(kind, vector, { filter, count: wanted }) : [];
  const ids = Array.from(new Set([...top(words, wanted), ...near.map(({ id }) => id)]));
  const similarities = vector ? await store.similarities(kind, vector, ids) : new Map<number, number>();
  const passages = (await store.passages(kind, ids)).filter(
    ({ level }) => !levels || (level >= levels[0] && level <= levels[1]),
  );
  const best = Math.max(...passages.map(({ id }) => words.get(id) ?? 0), Number.MIN_VALUE);
  const hits = passages
    .map((passage) => {
      const similarity = rounded(similarities.get(passage.id) ?? 0);
      const lexical = (words.get(passage.id) ?? 0) / best;
      // What has no vector is judged by its words alone.
      const score = similarities.has(passage.id) ? WORDS * lexical + (1 - WORDS) * Math.max(0, similarity) : lexical;
      return { passage, similarity, score: rounded(score) };
    })
    .filter(({ similarity }) => similarity >= minSimilarity)
    .toSorted(
      (one, other) =>
        other.score - one.score ||
        compare(one.passage.sourceId, other.passage.sourceId) ||
        one.passage.ordinal - other.passage.ordinal,
    );
  return { hits: hits.slice(0, limit), matches: Math.max(words.size, hits.length) };
}

async function byWords(
  kind: PassageKind,
  groups: readonly (readonly string[])[],
  { store, filter, wanted }: { readonly store: LibraryStore; readonly filter: Filter; readonly wanted: number },
): Promise<ReadonlyMap<number, number>> {
  if (groups.length === 0) return new Map();
  const stats = await store.termStats(kind, groups.flat());
  const known = groups.filter((group) => frequencyOf(group, stats) > 0);
  const candidates = await store.candidates(kind, selectiveTerms(known, stats, wanted), filter);
  return scoreBm25(known, candidates, stats);
}

function top(scores: ReadonlyMap<number, number>, count: number): number[] {
  return Array.from(scores)
    .toSorted(([id, one], [otherId, other]) => other - one || id - otherId)
    .slice(0, count)
    .map(([id]) => id);
}

function rounded(value: number): number {
  return Math.round(value * ROUNDING) / ROUNDING;
}

function compare(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}
