import type { Filter, LibraryStore, PassageKind } from "../store/store.ts";
import { frequencyOf, fullScore, scoreBm25, selectiveTerms, type Candidate, type WantedTerms } from "./bm25.ts";
import { byPlace } from "./order.ts";
import { promising, type PassageQuery } from "./promising.ts";
import { termsIn, type TermGroup } from "./term-group.ts";

/** Number of passages beyond the requested number that are read without filtering candidates first. */
const FEW_MORE = 300;
/** Maximum share of passages that contain a term. More frequent terms are not looked up. */
const TELLING = 0.5;

export interface ScoredPassage {
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

export interface Lexical {
  readonly kind: PassageKind;
  readonly store: LibraryStore;
  readonly filter: Filter;
  readonly wanted: number;
  /** Ids of passages with similar vectors. Their words count too. */
  readonly near: readonly number[];
}

/** Finds passages by words. */
export async function byWords(groups: readonly TermGroup[], search: Lexical): Promise<ByWords> {
  if (groups.length === 0) return { found: [], scores: new Map(), fullScore: 1, total: 0, isWhole: true };
  const stats = await search.store.termStats(search.kind, termsIn(groups));
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
 * come first, if there are enough.
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
  return termsIn(groups).filter((term) => {
    const frequency = frequencies.get(term);
    return frequency !== undefined && (frequency <= passages * TELLING || any.includes(term));
  });
}

/** Factor of the scores by translated words, which are less certain than the words of the query. */
const TRANSLATED = 0.9;

export interface MergedWords extends ByWords {
  /** Passages that translated words find better than the words of the query, with `fullScore` of that translation. */
  readonly translated: ReadonlyMap<number, number>;
}

/** Merges the passages that contain words of the query with those that contain their translations. */
export function mergeTranslated(words: ByWords, others: readonly ByWords[]): MergedWords {
  const [found, scores] = [new Map(words.found.map((place) => [place.id, place])), new Map(words.scores)];
  const translated = new Map<number, number>();
  for (const other of others)
    for (const place of other.found) {
      const score = place.score * TRANSLATED;
      if (score <= (scores.get(place.id) ?? 0)) continue;
      scores.set(place.id, score);
      found.set(place.id, { ...place, score });
      translated.set(place.id, other.fullScore);
    }
  return {
    found: Array.from(found.values()),
    scores,
    fullScore: words.fullScore,
    total: Math.max(found.size, words.total, ...others.map(({ total }) => total)),
    isWhole: [words, ...others].every(({ isWhole }) => isWhole),
    translated,
  };
}

/** Returns the `count` best passages, best first. */
export function best(found: readonly ScoredPassage[], count: number): readonly ScoredPassage[] {
  return found.toSorted((one, other) => other.score - one.score || byPlace(one, other)).slice(0, count);
}
