import type { Places } from "../store/store.ts";
import { mostOf, normOf, partOf, weightsOf, type TermStats } from "./bm25.ts";
import { STEPS } from "./term-counter.ts";
import type { TermGroup } from "./terms.ts";

/** More than the rounding error of summing the same products in another order. */
const MARGIN = 1e-9;

/** The query's words, and how many passages are wanted. */
export interface PassageQuery {
  readonly groups: readonly TermGroup[];
  readonly stats: TermStats;
  readonly count: number;
}

/**
 * Returns the passages that may be among the best by words: those whose upper score limit reaches the lower limit of
 * enough others. Only these need to be read. Term counts are known within a step; an unknown count may be 0 or any
 * number.
 */
export function promising(places: Places, { groups, stats, count }: PassageQuery): number[] {
  const size = places.ids.length;
  const [least, most] = [new Float64Array(size), new Float64Array(size)];
  const norms = places.lengths.map((length) => normOf(length, stats));
  for (const [at, weight] of weightsOf(groups, stats).entries()) {
    const terms = groups[at]!.filter((term) => stats.frequencies.has(term));
    const counts = countsOf(terms, places);
    for (let place = 0; place < size; place += 1) {
      const [fewest, highest] = counts ? [counts.least[place]!, counts.most[place]!] : [0, Infinity];
      if (fewest > 0) least[place]! += partOf(weight, fewest, norms[place]!);
      if (highest > 0) most[place]! += highest < Infinity ? partOf(weight, highest, norms[place]!) : mostOf(weight);
    }
  }
  const bound = (least.toSorted()[size - count] ?? 0) - MARGIN;
  return places.ids.filter((_, place) => most[place]! >= bound);
}

/** Returns how often any of the terms occurs in each passage; undefined if it is unknown. */
function countsOf(
  terms: readonly string[],
  { ids, terms: known }: Places,
): { readonly least: Float64Array; readonly most: Float64Array } | undefined {
  if (!terms.every((term) => known.has(term))) return undefined;
  const [least, most] = [new Float64Array(ids.length), new Float64Array(ids.length)];
  for (const term of terms)
    for (const [step, list] of known.get(term)!.entries()) {
      // Passages that reach this step were counted at the step below until here.
      const [before, up] = [STEPS[step - 1] ?? 0, STEPS[step]!];
      const bound = (STEPS[step + 1] ?? Infinity) - 1 - (step === 0 ? 0 : up - 1);
      for (const place of placesOf(ids, list)) {
        least[place]! += up - before;
        most[place]! += bound;
      }
    }
  return { least, most };
}

/** Returns the positions in one list of the elements that are in both lists. Both lists ascend. */
function placesOf(ids: readonly number[], others: readonly number[]): number[] {
  const places: number[] = [];
  let place = 0;
  for (const other of others) {
    while (place < ids.length && ids[place]! < other) place += 1;
    if (ids[place] === other) places.push(place);
  }
  return places;
}
