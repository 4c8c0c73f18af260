import type { MergedWords, ScoredPassage } from "./lexical.ts";
import type { Embedder } from "./embedder.ts";
import { byPlace } from "./order.ts";

/** Weight of the words in the score. The rest is the weight of the vectors. */
const WORDS = 0.7;
/** Minimum similarity of a relevant passage that contains no word of the query. */
const MIN_MEANING = 0.6;
/** Scores are rounded to four decimals, so that all stores return the same order despite different last bits. */
const ROUNDING = 10_000;

export interface RankedPlace extends ScoredPassage {
  readonly similarity: number | undefined;
  readonly cosine: number | undefined;
  /** Share of the query's words that the passage contains, by weight; or its similarity, if that is higher. */
  readonly relevance: number;
}

interface Evidence {
  readonly words: MergedWords;
  readonly cosines: ReadonlyMap<number, number>;
  readonly embedder: Embedder | undefined;
}

/** Orders passages by words and vectors. The score of the first is its relevance; the others are relative to it. */
export function rankPlaces(places: readonly ScoredPassage[], { words, cosines, embedder }: Evidence): RankedPlace[] {
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
    const fullScore = words.translated.get(place.id) ?? words.fullScore;
    const relevance = Math.max(Math.min(1, lexical / fullScore), relevanceOf({ cosine, similarity }, hasWords));
    return { ...place, cosine, similarity, relevance, score: fused };
  });
  const ordered = ranked.toSorted((one, other) => rounded(other.score) - rounded(one.score) || byPlace(one, other));
  const top = ordered[0]?.score ?? 1;
  const relevance = ordered.reduce((all, one) => Math.max(all, one.relevance), 0);
  const scored = ordered.map((one) => {
    return { ...one, score: rounded((one.score / Math.max(top, Number.MIN_VALUE)) * relevance) };
  });
  return raiseTranslated(scored, words.translated);
}

/** Rank by which the best passage in another language than the query is listed, if it is relevant. */
const TRANSLATED_BY = 5;

/**
 * Raises passages that were found by translated words, so that the best one is among the first. A library has more
 * passages that repeat words of the query than passages that answer it, and these would displace every answer in
 * another language.
 */
function raiseTranslated(ranked: RankedPlace[], translated: ReadonlyMap<number, number>): RankedPlace[] {
  const first = ranked.find(({ id }) => translated.has(id));
  const last = ranked.filter(({ id }) => !translated.has(id))[TRANSLATED_BY - 1];
  if (!first || !last || first.score > last.score || first.score <= 0) return ranked;
  const factor = (last.score + 1 / ROUNDING) / first.score;
  return ranked
    .map((one) => (translated.has(one.id) ? { ...one, score: rounded(one.score * factor) } : one))
    .toSorted((one, other) => other.score - one.score || byPlace(one, other));
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

/** Returns a score rounded to four decimals. */
export function rounded(value: number): number {
  return Math.round(value * ROUNDING) / ROUNDING;
}
