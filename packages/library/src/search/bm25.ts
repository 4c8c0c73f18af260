import { TermCounter } from "./term-counter.ts";
import { termsIn, type TermGroup } from "./term-group.ts";
import { isExactTerm } from "./terms.ts";

/** Usual parameters of BM25. Robertson and Zaragoza, The Probabilistic Relevance Framework: BM25 and Beyond (2009). */
const K1 = 1.2;
const B = 0.75;

/** Statistics of a store: number of passages, and number of passages that contain each term. */
export interface TermStats {
  readonly passages: number;
  /** Average number of terms of a passage. */
  readonly averageLength: number;
  readonly frequencies: ReadonlyMap<string, number>;
}

export interface Candidate {
  readonly id: number;
  /** Document and position in it. They order passages with equal scores in the same way in every store. */
  readonly sourceId: string;
  readonly ordinal: number;
  /** Terms, separated by spaces. */
  readonly terms: string;
  readonly length: number;
}

/** Terms by which candidate passages are found. */
export interface WantedTerms {
  /** The passage must contain at least one of these terms. */
  readonly any: readonly string[];
  /** The passage must also contain at least one of these terms. */
  readonly and?: readonly string[];
}

/**
 * Returns the BM25 score of a passage. The score is higher for more words of the query, rarer words and shorter
 * passages.
 */
export function scoreBm25(
  groups: readonly TermGroup[],
  candidates: readonly Candidate[],
  stats: TermStats,
): ReadonlyMap<number, number> {
  const counter = new TermCounter(groups);
  const weights = weightsOf(groups, stats);
  const scores = new Map<number, number>();
  for (const { id, terms, length } of candidates) {
    const counts = counter.countsIn(terms);
    const norm = normOf(length, stats);
    let score = 0;
    for (let at = 0; at < counts.length; at += 1) score += partOf(weights[at]!, counts[at]!, norm);
    if (score > 0) scores.set(id, score);
  }
  return scores;
}

/** Returns the part of a passage's score that comes from a group with `count` occurrences. */
export function partOf(weight: number, count: number, norm: number): number {
  return (weight * count * (K1 + 1)) / (count + norm);
}

/** Returns the maximum that a group can add to a score. */
export function mostOf(weight: number): number {
  return weight * (K1 + 1);
}

export function normOf(length: number, { averageLength }: TermStats): number {
  return K1 * (1 - B + (B * length) / Math.max(averageLength, 1));
}

export function weightsOf(groups: readonly TermGroup[], stats: TermStats): number[] {
  return groups.map((group) => groupWeight(group, stats));
}

/** Returns an upper limit of the number of passages that contain any term of the group. */
export function frequencyOf(group: TermGroup, { frequencies, passages }: TermStats): number {
  let sum = 0;
  for (const term of group.keys()) sum += frequencies.get(term) ?? 0;
  return Math.min(passages, sum);
}

/** Returns the number of passages that contain a term of the group. A passage counts by the weight of its term. */
function weightedFrequency(group: TermGroup, { frequencies, passages }: TermStats): number {
  let sum = 0;
  for (const [term, weight] of group) sum += weight * (frequencies.get(term) ?? 0);
  return Math.min(passages, sum);
}

/** Share of a word's weight for its exact spelling, added to the weight of its stem. */
const EXACT_SHARE = 0.1;

/** Returns the weight of a word: higher for rarer words, and highest for a word that no passage contains. */
export function groupWeight(group: TermGroup, stats: TermStats): number {
  const weight = weightOf(weightedFrequency(group, stats), stats.passages);
  return isExact(group) ? weight * EXACT_SHARE : weight;
}

function isExact(group: TermGroup): boolean {
  return Array.from(group.keys()).every(isExactTerm);
}

function weightOf(frequency: number, passages: number): number {
  return Math.log(1 + (passages - frequency + 0.5) / (frequency + 0.5));
}

/**
 * Returns the score of a passage of average length that contains each word once. Words that no passage contains count
 * too.
 */
export function fullScore(groups: readonly TermGroup[], stats: TermStats): number {
  // If no passage contains the exact spelling of a word, its stem counts instead.
  const counted = groups.filter((group) => !isExact(group) || frequencyOf(group, stats) > 0);
  return counted.reduce((sum, group) => sum + groupWeight(group, stats), 0);
}

/** Number of candidates per requested passage. With fewer than twenty, better passages are missed. */
const CANDIDATES_EACH = 20;
const MIN_CANDIDATES = 4_000;

/**
 * Returns the rarest words, at least one, whose passages are few enough to score each of them. The score then counts
 * all words of the query. This costs little quality, and a query with "the" does not read the whole library. If even
 * the rarest word has too many passages, the passages must contain another word of the query too.
 */
export function selectiveTerms(groups: readonly TermGroup[], stats: TermStats, wanted: number): WantedTerms {
  const cap = Math.max(MIN_CANDIDATES, wanted * CANDIDATES_EACH);
  const known = groups
    .map((group) => ({ group, frequency: frequencyOf(group, stats) }))
    .filter(({ frequency }) => frequency > 0)
    .toSorted((one, other) => one.frequency - other.frequency);
  let sum = 0;
  const taken = known.filter(({ frequency }, at) => (sum += frequency) <= cap || at === 0);
  const others = known.slice(taken.length);
  const isTooMuch = (known[0]?.frequency ?? 0) > cap && others.length > 0;
  return { any: termsOf(taken, stats), ...(isTooMuch && { and: termsOf(others, stats) }) };
}

function termsOf(known: readonly { readonly group: TermGroup }[], { frequencies }: TermStats): string[] {
  return termsIn(known.map(({ group }) => group)).filter((term) => frequencies.has(term));
}
