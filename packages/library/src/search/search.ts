import type { Filter, LibraryStore, PassageKind, StoredPassage } from "../store/store.ts";
import type { Embedder } from "./embedder.ts";
import { DocumentError } from "../documents/document-error.ts";
import { byPlace } from "./order.ts";
import { frequencyOf, scoreBm25, selectiveTerms, type Candidate, type WantedTerms } from "./bm25.ts";
import { promising, type PassageQuery } from "./promising.ts";
import type { TermGroup, Terms } from "./terms.ts";

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
  /** Sort key: words and vectors combined. */
  readonly score: number;
}

export interface PassageHits {
  readonly hits: readonly Hit[];
  /** Number of passages that contain a word of the query or have a similar vector; `hits` are the first of them. */
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

/** Passages beyond the requested number that are read before candidates are filtered. */
const FEW_MORE = 300;
/** Share of all passages above which the occurrences of a term are not looked up. */
const TELLING = 0.5;

/** Limit of searches that are repeated because results were changed meanwhile. */
const MAX_TRIES = 5;

/** Finds passages by words and by meaning, best first; those that are as good by document and place. */
export async function searchPassages(
  kind: PassageKind,
  request: SearchRequest,
  parts: SearchParts,
): Promise<PassageHits> {
  for (let tries = 1; ; tries += 1) {
    const { isWhole, ...found } = await searchOnce(kind, request, parts);
    // A document that was replaced meanwhile is found in its old or its new reading, and not in neither.
    if (isWhole) return found;
    if (tries === MAX_TRIES)
      throw new DocumentError(
        "STORE_BUSY",
        "What was found was replaced while it was read, again and again. Try later.",
      );
  }
}

async function searchOnce(
  kind: PassageKind,
  { query, limit, filter, minSimilarity, levels }: SearchRequest,
  { store, terms, embedder }: SearchParts,
): Promise<PassageHits & { readonly isWhole: boolean }> {
  const languages = await store.languages();
  await terms.load(languages);
  // Stores do not know levels, so a query for some levels needs all candidates.
  const wanted = levels ? Number.MAX_SAFE_INTEGER : Math.max(MIN_PROPOSED, limit * PROPOSED_EACH);
  const [vector] = embedder ? await embedder.embed([query], "query") : [];
  const near = vector ? await store.nearest(kind, vector, { filter, count: wanted + MORE_NEAR }) : [];
  const lexicalSearch = { kind, store, filter, wanted, near: near.map(({ id }) => id) };
  const words = await byWords(terms.groupsOf(query, languages), lexicalSearch);
  const told = best(words.found, wanted);
  const proposed = Array.from(new Set([...told, ...near].map(({ id }) => id)));
  const similarities = vector ? await store.similarities(kind, vector, proposed) : new Map<number, number>();
  // Stores differ in the last digits of similarities, so the final choice is made here.
  const nearest = near.map((place) => ({ ...place, score: rounded(similarities.get(place.id) ?? 0) }));
  const chosen = new Map([...told, ...best(nearest, wanted)].map((place) => [place.id, place]));
  const { places, isWhole } = levels
    ? await ofLevels(kind, Array.from(chosen.values()), { levels, store })
    : { places: Array.from(chosen.values()), isWhole: true };
  const most = places.reduce((all, { id }) => Math.max(all, words.scores.get(id) ?? 0), Number.MIN_VALUE);
  const ranked = places
    .map(({ id, sourceId, ordinal }) => {
      const similarity = rounded(similarities.get(id) ?? 0);
      const lexical = (words.scores.get(id) ?? 0) / most;
      // A passage without a vector is ranked by its words only.
      const score = similarities.has(id) ? WORDS * lexical + (1 - WORDS) * Math.max(0, similarity) : lexical;
      return { id, sourceId, ordinal, similarity, score: rounded(score) };
    })
    .filter(({ similarity }) => similarity >= minSimilarity)
    .toSorted((one, other) => other.score - one.score || byPlace(one, other));
  const first = new Map(ranked.slice(0, limit).map((place) => [place.id, place]));
  const passages = await store.passages(kind, Array.from(first.keys()));
  const hits = passages.map((passage) => {
    const { similarity, score } = first.get(passage.id)!;
    return { passage, similarity, score };
  });
  const matches = Math.max(words.total, ranked.length);
  return { hits, matches, isWhole: words.isWhole && isWhole && passages.length === first.size };
}

/** Returns the passages whose level is in the range. */
async function ofLevels(
  kind: PassageKind,
  places: readonly ScoredPassage[],
  { levels: [least, most], store }: { readonly levels: readonly [number, number]; readonly store: LibraryStore },
): Promise<{ readonly places: readonly ScoredPassage[]; readonly isWhole: boolean }> {
  const passages = await store.passages(
    kind,
    places.map(({ id }) => id),
  );
  const own = new Set(passages.filter(({ level }) => level >= least && level <= most).map(({ id }) => id));
  return { places: places.filter(({ id }) => own.has(id)), isWhole: passages.length === places.length };
}

interface ScoredPassage {
  readonly id: number;
  readonly sourceId: string;
  readonly ordinal: number;
  readonly score: number;
}

interface ByWords {
  /** All that may be among the best, and those that are near. */
  readonly found: readonly ScoredPassage[];
  readonly scores: ReadonlyMap<number, number>;
  readonly total: number;
  /** False if one of them was removed before it was read. */
  readonly isWhole: boolean;
}

interface Lexical {
  readonly kind: PassageKind;
  readonly store: LibraryStore;
  readonly filter: Filter;
  readonly wanted: number;
  /** Passages with similar vectors. Their words count too. */
  readonly near: readonly number[];
}

async function byWords(groups: readonly TermGroup[], search: Lexical): Promise<ByWords> {
  if (groups.length === 0) return { found: [], scores: new Map(), total: 0, isWhole: true };
  const stats = await search.store.termStats(search.kind, groups.flat());
  const known = groups.filter((group) => frequencyOf(group, stats) > 0);
  const { candidates, total, isWhole } = await candidatesOf({ groups: known, stats, count: search.wanted }, search);
  const scores = scoreBm25(known, candidates, stats);
  const found = candidates.flatMap(({ id, sourceId, ordinal }) => {
    const score = scores.get(id);
    return score === undefined ? [] : [{ id, sourceId, ordinal, score }];
  });
  return { found, scores, total: total ?? found.length, isWhole };
}

interface Candidates {
  readonly candidates: readonly Candidate[];
  /** Absent: the list is complete. */
  readonly total?: number;
  readonly isWhole: boolean;
}

/**
 * If even the rarest word is in too many passages, those that contain a second word come first, if there are enough of
 * them.
 */
async function candidatesOf(words: PassageQuery, search: Lexical): Promise<Candidates> {
  const { any, and } = selectiveTerms(words.groups, words.stats, search.wanted);
  const both = and ? await candidatesFor({ any, and }, words, search) : undefined;
  const isEnough = both && (both.total ?? both.candidates.length) >= search.wanted;
  return isEnough ? both : candidatesFor({ any }, words, search);
}

async function candidatesFor(terms: WantedTerms, words: PassageQuery, search: Lexical): Promise<Candidates> {
  const { kind, store, filter, wanted, near } = search;
  const looked = { terms: tellingTerms(words, terms.any), filter, few: wanted + FEW_MORE };
  const places = terms.any.length > 0 ? await store.places?.(kind, terms, looked) : undefined;
  if (!places) return { candidates: await store.candidates(kind, terms, filter), isWhole: true };
  const all = new Set(places.ids);
  const read = Array.from(new Set([...promising(places, words), ...near.filter((id) => all.has(id))]));
  const candidates = await store.candidatesAt!(kind, read);
  return { candidates, total: places.ids.length, isWhole: candidates.length === read.length };
}

/** Omits terms that occur in most passages: they distinguish little and are slow to look up. */
function tellingTerms({ groups, stats: { frequencies, passages } }: PassageQuery, any: readonly string[]): string[] {
  return groups.flat().filter((term) => {
    const frequency = frequencies.get(term);
    return frequency !== undefined && (frequency <= passages * TELLING || any.includes(term));
  });
}

function best(found: readonly ScoredPassage[], count: number): readonly ScoredPassage[] {
  return found.toSorted((one, other) => other.score - one.score || byPlace(one, other)).slice(0, count);
}

function rounded(value: number): number {
  return Math.round(value * ROUNDING) / ROUNDING;
}
