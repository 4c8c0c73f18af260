import type { Places } from "../store/store.ts";
import { mostOf, normOf, partOf, weightsOf, type TermStats } from "./bm25.ts";
import { STEPS } from "./term-counter.ts";
import type { TermGroup } from "./term-group.ts";

/** Margin larger than the rounding error of summing the same products in another order. */
const MARGIN = 1e-9;

/** The words of a query, and the number of requested passages. */
export interface PassageQuery {
  readonly groups: readonly TermGroup[];
  readonly stats: TermStats;
  readonly count: number;
}

/**
 * Returns the passages that may be among the best by words: those whose maximum score reaches the minimum score of
 * enough other passages. Only these need to be read. Term counts are known within a step; an unknown count may be 0 or
 * any number.
 */
export function promising(places: Places, { groups, stats, count }: PassageQuery): number[] {
  const size = places.ids.length;
  const [least, most] = [new Float64Array(size), new Float64Array(size)];
  const norms = places.lengths.map((length) => normOf(length, stats));
  for (const [at, weight] of weightsOf(groups, stats).entries()) {
    const terms = Array.from(groups[at]!).filter(([term]) => stats.frequencies.has(term));
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

/** Returns the number of occurrences of the terms in each passage; undefined if it is unknown. */
function countsOf(
  terms: readonly (readonly [term: string, weight: number])[],
  { ids, terms: known }: Places,
): { readonly least: Float64Array; readonly most: Float64Array } | undefined {
  if (!terms.every(([term]) => known.has(term))) return undefined;
  const [least, most] = [new Float64Array(ids.length), new Float64Array(ids.length)];
  for (const [term, weight] of terms)
    for (const [step, list] of known.get(term)!.entries()) {
      // The previous steps have already counted the lower part for passages that reach this step.
      const [before, up] = [STEPS[step - 1] ?? 0, STEPS[step]!];
      const bound = (STEPS[step + 1] ?? Infinity) - 1 - (step === 0 ? 0 : up - 1);
      for (const place of placesOf(ids, list)) {
        least[place]! += weight * (up - before);
        most[place]! += weight * bound;
      }
    }
  return { least, most };
}

/** Returns the indexes in the first list of elements that are in both lists. Both lists are in ascending order. */
function placesOf(ids: readonly number[], others: readonly number[]): number[] {
  const places: number[] = [];
  let place = 0;
  for (const other of others) {
    while (place < ids.length && ids[place]! < other) place += 1;
    if (ids[place] === other) places.push(place);
  }
  return places;
}
