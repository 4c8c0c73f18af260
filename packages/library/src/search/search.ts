import type { Filter, LibraryStore, PassageKind, StoredPassage } from "../store/store.ts";
import type { Embedder } from "./embedder.ts";
import { DocumentError } from "../documents/document-error.ts";
import { best, byWords, mergeTranslated, type Lexical, type MergedWords, type ScoredPassage } from "./lexical.ts";
import { expandQuery, type ExpandedQuery } from "./query-expansion.ts";
import { rankPlaces, rounded, type RankedPlace } from "./rank.ts";
import type { Terms } from "./terms.ts";

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
   * found. @default 0.3, or 0.4 if the library has a dictionary for its languages
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
/** Default of `minRelevance`, measured with questions that have an answer and questions that have none. */
const MIN_RELEVANCE = 0.3;
/** Default of `minRelevance` for a query with synonyms and translations, which more passages contain by chance. */
const MIN_EXPANDED_RELEVANCE = 0.4;
/** Share of the minimum relevance that passages after the best one must have. */
const REST = 0.5;
const MAX_NEAR_MISSES = 3;

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
  const expanded = await expandQuery(query, { terms, languages });
  // Stores cannot filter by level, so a query for some levels needs all candidates.
  const wanted = levels ? Number.MAX_SAFE_INTEGER : Math.max(MIN_PROPOSED, limit * PROPOSED_EACH);
  const vector = await queryVector(query, { embedder, language: expanded.language, onUnavailable });
  const near = vector ? await store.nearest(kind, vector, { filter, count: wanted + MORE_NEAR }) : [];
  const words = await findWords(expanded, { kind, store, filter, wanted, near: near.map(({ id }) => id) });
  const byWord = [false, true].flatMap((isTranslated) => {
    return best(
      words.found.filter(({ id }) => words.translated.has(id) === isTranslated),
      wanted,
    );
  });
  const proposed = Array.from(new Set([...byWord, ...near].map(({ id }) => id)));
  const cosines = vector ? await store.similarities(kind, vector, proposed) : new Map<number, number>();
  // The last digits of similarities differ between stores, so the final choice is made here.
  const nearest = near.map((place) => ({ ...place, score: rounded(cosines.get(place.id) ?? 0) }));
  const chosen = new Map([...byWord, ...best(nearest, wanted)].map((place) => [place.id, place]));
  const { places, isWhole } = levels
    ? await ofLevels(kind, Array.from(chosen.values()), { levels, store })
    : { places: Array.from(chosen.values()), isWhole: true };
  const ranked = rankPlaces(places, { words, cosines, embedder });
  const minRelevance = expanded.translations.length > 0 ? MIN_EXPANDED_RELEVANCE : MIN_RELEVANCE;
  const found = await readHits(kind, ranked, { request: { minRelevance, ...request }, store, total: words.total });
  return { ...found, isWhole: words.isWhole && isWhole && found.isWhole };
}

/** Finds passages by the words of a query, and passages in other languages by its translations. */
async function findWords({ groups, translations }: ExpandedQuery, search: Lexical): Promise<MergedWords> {
  const { filter } = search;
  const others = translations.filter(({ language }) => (filter.language ?? language) === language);
  const found = [await byWords(groups, search)];
  for (const { groups: own, language } of others)
    found.push(await byWords(own, { ...search, filter: { ...filter, language } }));
  return mergeTranslated(found[0]!, found.slice(1));
}

interface HitReading {
  readonly request: SearchRequest & { readonly minRelevance: number };
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
  const { limit, minSimilarity, minRelevance } = request;
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
