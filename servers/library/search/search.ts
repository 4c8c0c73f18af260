import type { Filter, LibraryStore, PassageKind, StoredPassage } from "../store/store.ts";
import type { Embedder } from "./embedder.ts";
import { byPlace } from "./order.ts";
import { frequencyOf, scoreBm25, selectiveTerms, type Candidate, type WantedTerms } from "./bm25.ts";
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
/** Asked for beyond the nearest that are wanted, so that a store's own rounding decides nothing. */
const MORE_NEAR = 20;
/** How much of the order is by words; the rest is by the vectors. */
const WORDS = 0.7;
/** Four decimals, so that stores that differ in the last bits give one order. */
const ROUNDING = 10_000;

/** Searches anew while others change what was found; a library is not changed so often for long. */
const MAX_TRIES = 5;

/** Finds passages by words and by meaning, best first; those that are as good by document and place. */
export async function searchPassages(kind: PassageKind, request: SearchRequest, parts: SearchParts): Promise<Found> {
  for (let tries = 1; ; tries += 1) {
    const { isWhole, ...found } = await searchOnce(kind, request, parts);
    // A document that was replaced meanwhile is found in its old or its new reading, and not in neither.
    if (isWhole || tries === MAX_TRIES) return found;
  }
}

async function searchOnce(
  kind: PassageKind,
  { query, limit, filter, minSimilarity, levels }: SearchRequest,
  { store, terms, embedder }: SearchParts,
): Promise<Found & { readonly isWhole: boolean }> {
  const languages = await store.languages();
  await terms.load(languages);
  // Stores know no levels, so whoever wants some of them is shown all.
  const wanted = levels ? Number.MAX_SAFE_INTEGER : Math.max(MIN_PROPOSED, limit * PROPOSED_EACH);
  const words = await byWords(kind, terms.groupsOf(query, languages), { store, filter, wanted });
  const told = best(words.found, wanted);
  const [vector] = embedder ? await embedder.embed([query], "query") : [];
  const near = vector ? await store.nearest(kind, vector, { filter, count: wanted + MORE_NEAR }) : [];
  const proposed = Array.from(new Set([...told, ...near].map(({ id }) => id)));
  const similarities = vector ? await store.similarities(kind, vector, proposed) : new Map<number, number>();
  // Stores differ in the last digits of what is nearest, so the last of them are chosen here.
  const nearest = near.map((place) => ({ ...place, score: rounded(similarities.get(place.id) ?? 0) }));
  const ids = Array.from(new Set([...told, ...best(nearest, wanted)].map(({ id }) => id)));
  const there = await store.passages(kind, ids);
  const passages = there.filter(({ level }) => !levels || (level >= levels[0] && level <= levels[1]));
  const most = Math.max(...passages.map(({ id }) => words.scores.get(id) ?? 0), Number.MIN_VALUE);
  const hits = passages
    .map((passage) => {
      const similarity = rounded(similarities.get(passage.id) ?? 0);
      const lexical = (words.scores.get(passage.id) ?? 0) / most;
      // What has no vector is judged by its words alone.
      const score = similarities.has(passage.id) ? WORDS * lexical + (1 - WORDS) * Math.max(0, similarity) : lexical;
      return { passage, similarity, score: rounded(score) };
    })
    .filter(({ similarity }) => similarity >= minSimilarity)
    .toSorted((one, other) => other.score - one.score || byPlace(one.passage, other.passage));
  const matches = Math.max(words.found.length, hits.length);
  return { hits: hits.slice(0, limit), matches, isWhole: there.length === ids.length };
}

interface Scored {
  readonly id: number;
  readonly sourceId: string;
  readonly ordinal: number;
  readonly score: number;
}

interface ByWords {
  readonly found: readonly Scored[];
  readonly scores: ReadonlyMap<number, number>;
}

async function byWords(
  kind: PassageKind,
  groups: readonly (readonly string[])[],
  { store, filter, wanted }: { readonly store: LibraryStore; readonly filter: Filter; readonly wanted: number },
): Promise<ByWords> {
  if (groups.length === 0) return { found: [], scores: new Map() };
  const stats = await store.termStats(kind, groups.flat());
  const known = groups.filter((group) => frequencyOf(group, stats) > 0);
  const candidates = await candidatesOf(kind, selectiveTerms(known, stats, wanted), { store, filter, wanted });
  const scores = scoreBm25(known, candidates, stats);
  const found = candidates.flatMap(({ id, sourceId, ordinal }) => {
    const score = scores.get(id);
    return score === undefined ? [] : [{ id, sourceId, ordinal, score }];
  });
  return { found, scores };
}

/** Where even the rarest word is everywhere, passages with a second one come first, if there are enough of them. */
async function candidatesOf(
  kind: PassageKind,
  { any, and }: WantedTerms,
  { store, filter, wanted }: { readonly store: LibraryStore; readonly filter: Filter; readonly wanted: number },
): Promise<readonly Candidate[]> {
  const both = and ? await store.candidates(kind, { any, and }, filter) : [];
  return both.length >= wanted ? both : store.candidates(kind, { any }, filter);
}

function best(found: readonly Scored[], count: number): readonly Scored[] {
  return found.toSorted((one, other) => other.score - one.score || byPlace(one, other)).slice(0, count);
}

function rounded(value: number): number {
  return Math.round(value * ROUNDING) / ROUNDING;
}
