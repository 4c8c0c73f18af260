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
  /** Minimum similarity of a result. It keeps passages of unknown similarity. */
  readonly minSimilarity: number;
  /** Levels of summaries. Absent: all. */
  readonly levels?: readonly [least: number, most: number];
  /** Relevance that the best passage must have, and the others half of it; else nothing is found. @default 0.3 */
  readonly minRelevance?: number;
}

export interface Hit {
  readonly passage: StoredPassage;
  /**
   * Probability that the passage answers the query by its meaning: at 0.5 it is as likely right as wrong. Absent where
   * it is not known: for a passage without a vector, and with an embedder that was not calibrated.
   */
  readonly similarity?: number;
  /** Cosine of the vectors of query and passage. Absent if either has no vector. */
  readonly cosine?: number;
  /** Sort key: words and vectors combined, from 0 to 1. Scores of different queries can be compared. */
  readonly score: number;
}

export interface PassageHits {
  readonly hits: readonly Hit[];
  /** Number of passages that contain a word of the query or have a similar vector; `hits` are the first of them. */
  readonly matches: number;
  /** The best passages below the relevance of a hit, if there are no hits. */
  readonly nearMisses: readonly Hit[];
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
/** Default of `minRelevance`, measured with questions that have an answer and questions that have none. */
const MIN_RELEVANCE = 0.3;
/** Similarity from which a passage without the words of the query is an answer. */
const MIN_MEANING = 0.6;
/** Share of it that passages after the best one must have. */
const REST = 0.5;
const MAX_NEAR_MISSES = 3;

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
  request: SearchRequest,
  { store, terms, embedder }: SearchParts,
): Promise<PassageHits & { readonly isWhole: boolean }> {
  const { query, limit, filter, levels } = request;
  const languages = await store.languages();
  await terms.load(languages);
  const { groups, language } = terms.ofQuery(query, languages);
  // Stores do not know levels, so a query for some levels needs all candidates.
  const wanted = levels ? Number.MAX_SAFE_INTEGER : Math.max(MIN_PROPOSED, limit * PROPOSED_EACH);
  const vector = await queryVector(query, { embedder, language });
  const near = vector ? await store.nearest(kind, vector, { filter, count: wanted + MORE_NEAR }) : [];
  const words = await byWords(groups, { kind, store, filter, wanted, near: near.map(({ id }) => id) });
  const told = best(words.found, wanted);
  const proposed = Array.from(new Set([...told, ...near].map(({ id }) => id)));
  const cosines = vector ? await store.similarities(kind, vector, proposed) : new Map<number, number>();
  // Stores differ in the last digits of similarities, so the final choice is made here.
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

/** Reads the passages that are relevant, or those that come nearest to it. */
async function readHits(
  kind: PassageKind,
  all: readonly RankedPlace[],
  { request, store, total }: HitReading,
): Promise<PassageHits & { readonly isWhole: boolean }> {
  const { limit, minSimilarity, minRelevance = MIN_RELEVANCE } = request;
  const ranked = all.filter(({ similarity }) => similarity === undefined || similarity >= minSimilarity);
  // The first has the relevance of the best one as its score.
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

/** Returns undefined for a query in a language that the embedder does not understand: its vector would mean nothing. */
async function queryVector(
  query: string,
  { embedder, language }: { readonly embedder: Embedder | undefined; readonly language: string | undefined },
): Promise<Float32Array | undefined> {
  if (!embedder) return undefined;
  const { languages } = embedder;
  if (languages && language !== undefined && !languages.includes(language)) return undefined;
  return (await embedder.embed([query], "query"))[0];
}

interface RankedPlace extends ScoredPassage {
  readonly similarity: number | undefined;
  readonly cosine: number | undefined;
  /** Share of the query's words that the passage has, by weight, or its similarity if that is more. */
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
  // A passage without a vector is never before one that has the same words and any vector.
  const least = known.reduce((all, cosine) => Math.min(all, cosine), 1);
  const greatest = known.reduce((all, cosine) => Math.max(all, cosine), 0);
  // The cosines of many models are close together: they count by their place between the least and the greatest.
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
 * Returns the relevance of a passage by its vector alone. If other passages have words of the query, it must be more
 * likely right than wrong.
 * Without a calibration, the vectors cannot tell that nothing was found.
 */
function relevanceOf({ cosine, similarity }: Pick<RankedPlace, "cosine" | "similarity">, hasWords: boolean): number {
  if (similarity === undefined) return cosine ?? 0;
  return similarity >= MIN_MEANING || !hasWords ? similarity : 0;
}

/** The probability that a passage with this cosine is right, as measured for the embedder. */
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
  /** Passages with words of the query: all that may rank among the best, and those with similar vectors. */
  readonly found: readonly ScoredPassage[];
  readonly scores: ReadonlyMap<number, number>;
  /** Score of a passage of average length that has each word of the query once. */
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
  /** Passages with similar vectors. Their words count too. */
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
