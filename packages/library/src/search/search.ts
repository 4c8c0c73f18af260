import type { Filter, LibraryStore, PassageKind, StoredPassage } from "../store/store.ts";
import type { Embedder } from "./embedder.ts";
import { DocumentError } from "../documents/document-error.ts";
import { byPlace } from "./order.ts";
import { frequencyOf, fullScore, scoreBm25, selectiveTerms, type Candidate, type WantedTerms } from "./bm25.ts";
import { promising, type PassageQuery } from "./promising.ts";
import type { TermGroup, Terms } from "./terms.ts";

export interface SearchRequest {
  readonly query: string;
  readonly limit: number;
  readonly filter: Filter;
  /** Minimum similarity of a result. Passages of unknown similarity are kept. */
  readonly minSimilarity: number;
  /** Range of the levels of summaries. Absent: all levels. */
  readonly levels?: readonly [least: number, most: number];
  /**
   * Minimum relevance of the best passage. The other passages need half of it. If the best passage has less, nothing is
   * found. @default 0.3
   */
  readonly minRelevance?: number;
}

export interface Hit {
  readonly passage: StoredPassage;
  /**
   * Probability that the passage answers the query, by its vector. Absent if it is unknown: for a passage without a
   * vector, and for an embedder without a calibration.
   */
  readonly similarity?: number;
  /** Cosine of the vectors of query and passage. Absent if either has no vector. */
  readonly cosine?: number;
  /** Sort key: words and vectors combined, from 0 to 1. Scores of different queries can be compared. */
  readonly score: number;
}

export interface PassageHits {
  readonly hits: readonly Hit[];
  /**
   * Number of passages that contain a word of the query or have a similar vector. `hits` are the first of these
   * passages.
   */
  readonly matches: number;
  /** The best passages below the relevance of a hit, if there are no hits. */
  readonly nearMisses: readonly Hit[];
  /** Reason why only words were searched, if the embedder is unavailable. */
  readonly note?: string;
}

export interface SearchParts {
  readonly store: LibraryStore;
  readonly terms: Terms;
  readonly embedder: Embedder | undefined;
  /** Called if the embedder is unavailable; words alone are searched then. Absent: the search rejects. */
  readonly onUnavailable?: ((message: string) => void) | undefined;
}

/** Number of candidates per requested passage that words and vectors each propose. */
const PROPOSED_EACH = 5;
const MIN_PROPOSED = 50;
/**
 * Additional number of nearest passages that are requested, so that rounding in a store does not change the result.
 */
const MORE_NEAR = 20;
/** Weight of the words in the score. The rest is the weight of the vectors. */
const WORDS = 0.7;
/** Scores are rounded to four decimals, so that all stores return the same order despite different last bits. */
const ROUNDING = 10_000;
/** Default of `minRelevance`, measured with questions that have an answer and questions that have none. */
const MIN_RELEVANCE = 0.3;
/** Minimum similarity of a relevant passage that contains no word of the query. */
const MIN_MEANING = 0.6;
/** Share of the minimum relevance that passages after the best one must have. */
const REST = 0.5;
const MAX_NEAR_MISSES = 3;

/** Number of passages beyond the requested number that are read without filtering candidates first. */
const FEW_MORE = 300;
/** Maximum share of all passages that contain a term whose occurrences are looked up. */
const TELLING = 0.5;

/** Maximum number of searches. A search is repeated if its results were changed meanwhile. */
const MAX_TRIES = 5;

/** Finds passages by words and vectors, best first. Equal scores are ordered by document and position. */
export async function searchPassages(
  kind: PassageKind,
  request: SearchRequest,
  parts: SearchParts,
): Promise<PassageHits> {
  for (let tries = 1; ; tries += 1) {
    const { isWhole, ...found } = await searchOnce(kind, request, parts);
    // If a passage was removed during the search, the search is repeated.
    if (isWhole) return found;
    if (tries === MAX_TRIES)
      throw new DocumentError(
        "STORE_BUSY",
        "The documents found were replaced repeatedly during the search. Try again later.",
      );
  }
}

async function searchOnce(
  kind: PassageKind,
  request: SearchRequest,
  { store, terms, embedder, onUnavailable }: SearchParts,
): Promise<PassageHits & { readonly isWhole: boolean }> {
  const { query, limit, filter, levels } = request;
  const languages = await store.languages();
  await terms.load(languages);
  const { groups, language } = terms.ofQuery(query, languages);
  // Stores cannot filter by level, so a query for some levels needs all candidates.
  const wanted = levels ? Number.MAX_SAFE_INTEGER : Math.max(MIN_PROPOSED, limit * PROPOSED_EACH);
  const vector = await queryVector(query, { embedder, language, onUnavailable });
  const near = vector ? await store.nearest(kind, vector, { filter, count: wanted + MORE_NEAR }) : [];
  const words = await byWords(groups, { kind, store, filter, wanted, near: near.map(({ id }) => id) });
  const told = best(words.found, wanted);
  const proposed = Array.from(new Set([...told, ...near].map(({ id }) => id)));
  const cosines = vector ? await store.similarities(kind, vector, proposed) : new Map<number, number>();
  // The last digits of similarities differ between stores, so the final choice is made here.
  const nearest = near.map((place) => ({ ...place, score: rounded(cosines.get(place.id) ?? 0) }));
  const chosen = new Map([...told, ...best(nearest, wanted)].map((place) => [place.id, place]));
  const { places, isWhole } = levels
    ? await ofLevels(kind, Array.from(chosen.values()), { levels, store })
    : { places: Array.from(chosen.values()), isWhole: true };
  const ranked = rankPlaces(places, { words, cosines, embedder });
  const found = await readHits(kind, ranked, { request, store, total: words.total });
  return { ...found, isWhole: words.isWhole && isWhole && found.isWhole };
}

interface HitReading {
  readonly request: SearchRequest;
  readonly store: LibraryStore;
  /** Number of passages with a word of the query. */
  readonly total: number;
}

/** Reads the relevant passages, or the best ones below the minimum relevance. */
async function readHits(
  kind: PassageKind,
  all: readonly RankedPlace[],
  { request, store, total }: HitReading,
): Promise<PassageHits & { readonly isWhole: boolean }> {
  const { limit, minSimilarity, minRelevance = MIN_RELEVANCE } = request;
  const ranked = all.filter(({ similarity }) => similarity === undefined || similarity >= minSimilarity);
  // The score of the first passage is the relevance of the best one.
  const isFound = ranked.length > 0 && ranked[0]!.score >= minRelevance;
  const relevant = isFound ? ranked.filter(({ relevance }) => relevance >= minRelevance * REST) : [];
  const shown = isFound ? relevant.slice(0, limit) : ranked.slice(0, MAX_NEAR_MISSES);
  const first = new Map(shown.map((place) => [place.id, place]));
  const passages = await store.passages(kind, Array.from(first.keys()));
  const hits = passages.map((passage) => {
    const { similarity, cosine, score } = first.get(passage.id)!;
    return { passage, ...(similarity !== undefined && { similarity }), ...(cosine !== undefined && { cosine }), score };
  });
  return {
    hits: isFound ? hits : [],
    nearMisses: isFound ? [] : hits,
    matches: isFound ? Math.max(total, ranked.length) : 0,
    isWhole: passages.length === first.size,
  };
}

/**
 * Returns the vector of a query. Undefined if the embedder is unavailable, or does not understand the query's language,
 * since the vector would be meaningless.
 */
async function queryVector(
  query: string,
  { embedder, language, onUnavailable }: QueryEmbedding,
): Promise<Float32Array | undefined> {
  if (!embedder) return undefined;
  const { languages } = embedder;
  if (languages && language !== undefined && !languages.includes(language)) return undefined;
  try {
    return (await embedder.embed([query], "query"))[0];
  } catch (error) {
    if (!onUnavailable || !(error instanceof DocumentError && error.code === "STORE_UNAVAILABLE")) throw error;
    onUnavailable(error.message);
    return undefined;
  }
}

interface QueryEmbedding extends Pick<SearchParts, "embedder" | "onUnavailable"> {
  readonly language: string | undefined;
}

interface RankedPlace extends ScoredPassage {
  readonly similarity: number | undefined;
  readonly cosine: number | undefined;
  /** Share of the query's words that the passage contains, by weight; or its similarity, if that is higher. */
  readonly relevance: number;
}

interface Evidence {
  readonly words: ByWords;
  readonly cosines: ReadonlyMap<number, number>;
  readonly embedder: Embedder | undefined;
}

/** Orders passages by words and vectors. The score of the first is its relevance; the others are relative to it. */
function rankPlaces(places: readonly ScoredPassage[], { words, cosines, embedder }: Evidence): RankedPlace[] {
  const most = places.reduce((all, { id }) => Math.max(all, words.scores.get(id) ?? 0), Number.MIN_VALUE);
  const known = places.flatMap(({ id }) => (cosines.has(id) ? [Math.max(0, rounded(cosines.get(id)!))] : []));
  // A passage without a vector is never ranked before one with the same words and a vector.
  const least = known.reduce((all, cosine) => Math.min(all, cosine), 1);
  const greatest = known.reduce((all, cosine) => Math.max(all, cosine), 0);
  // Without a calibration, cosines are scaled between the lowest and the highest, because the cosines of many models
  // are close together.
  const meaningOf = (cosine: number): number =>
    embedder?.calibration ? Math.max(0, cosine) : (cosine - least) / Math.max(greatest - least, Number.MIN_VALUE);
  const hasWords = words.scores.size > 0;
  const ranked = places.map((place) => {
    const lexical = words.scores.get(place.id) ?? 0;
    const cosine = cosines.has(place.id) ? rounded(cosines.get(place.id)!) : undefined;
    const similarity = cosine === undefined ? undefined : similarityOf(cosine, embedder);
    const meaning = meaningOf(cosine ?? least);
    const fused = known.length > 0 ? WORDS * (lexical / most) + (1 - WORDS) * meaning : lexical / most;
    const relevance = Math.max(Math.min(1, lexical / words.fullScore), relevanceOf({ cosine, similarity }, hasWords));
    return { ...place, cosine, similarity, relevance, score: fused };
  });
  const ordered = ranked.toSorted((one, other) => rounded(other.score) - rounded(one.score) || byPlace(one, other));
  const top = ordered[0]?.score ?? 1;
  const relevance = ordered.reduce((all, one) => Math.max(all, one.relevance), 0);
  return ordered.map((one) => ({ ...one, score: rounded((one.score / Math.max(top, Number.MIN_VALUE)) * relevance) }));
}

/**
 * Returns the relevance of a passage by its vector alone. If other passages contain words of the query, the vector must
 * indicate that the passage is more likely relevant than not. Without a calibration, vectors cannot show that nothing
 * relevant exists.
 */
function relevanceOf({ cosine, similarity }: Pick<RankedPlace, "cosine" | "similarity">, hasWords: boolean): number {
  if (similarity === undefined) return cosine ?? 0;
  return similarity >= MIN_MEANING || !hasWords ? similarity : 0;
}

/** Returns the measured probability that a passage with this cosine is relevant. */
function similarityOf(cosine: number, embedder: Embedder | undefined): number | undefined {
  const { calibration } = embedder ?? {};
  return calibration && rounded(1 / (1 + Math.exp((calibration.middle - cosine) / calibration.spread)));
}

/** Returns the passages with a level in the range. */
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
  /** Passages that contain words of the query: all that may rank among the best, and those with similar vectors. */
  readonly found: readonly ScoredPassage[];
  readonly scores: ReadonlyMap<number, number>;
  /** Score of a passage of average length that contains each word of the query once. */
  readonly fullScore: number;
  readonly total: number;
  /** False if a passage was removed before it was read. */
  readonly isWhole: boolean;
}

interface Lexical {
  readonly kind: PassageKind;
  readonly store: LibraryStore;
  readonly filter: Filter;
  readonly wanted: number;
  /** Ids of passages with similar vectors. Their words count too. */
  readonly near: readonly number[];
}

async function byWords(groups: readonly TermGroup[], search: Lexical): Promise<ByWords> {
  if (groups.length === 0) return { found: [], scores: new Map(), fullScore: 1, total: 0, isWhole: true };
  const stats = await search.store.termStats(search.kind, groups.flat());
  const known = groups.filter((group) => frequencyOf(group, stats) > 0);
  const { candidates, total, isWhole } = await candidatesOf({ groups: known, stats, count: search.wanted }, search);
  const scores = scoreBm25(known, candidates, stats);
  const found = candidates.flatMap(({ id, sourceId, ordinal }) => {
    const score = scores.get(id);
    return score === undefined ? [] : [{ id, sourceId, ordinal, score }];
  });
  return { found, scores, fullScore: fullScore(groups, stats), total: total ?? found.length, isWhole };
}

interface Candidates {
  readonly candidates: readonly Candidate[];
  /** Number of matching passages. Absent: the list is complete. */
  readonly total?: number;
  readonly isWhole: boolean;
}

/**
 * Returns the candidate passages. If even the rarest word is in too many passages, those that contain a second word
 * come first, if there are enough of them.
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
