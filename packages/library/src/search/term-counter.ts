import type { TermGroup } from "./term-group.ts";

const SPACE = 32;
/** Size of the hash table: a power of two, much larger than the number of terms in a query. */
const SLOTS = 4_096;

/**
 * Counts a query's terms in the texts of thousands of passages. It extracts a word only if the word's hash equals that
 * of a term, so other words allocate nothing.
 */
export class TermCounter {
  readonly #groupsOf = new Map<string, { readonly at: number; readonly weight: number }[]>();
  readonly #mayBe = new Uint8Array(SLOTS);
  readonly #counts: Float64Array;

  constructor(groups: readonly TermGroup[]) {
    this.#counts = new Float64Array(groups.length);
    for (const [at, group] of groups.entries())
      for (const [term, weight] of group) {
        this.#groupsOf.set(term, [...(this.#groupsOf.get(term) ?? []), { at, weight }]);
        this.#mayBe[digestOf(term) & (SLOTS - 1)] = 1;
      }
  }

  /** Returns the weighted count of each group in a text of terms separated by spaces, always in the same array. */
  countsIn(terms: string): Float64Array {
    const counts = this.#counts.fill(0);
    let [start, digest] = [0, 0];
    for (let at = 0; at <= terms.length; at += 1) {
      const code = at < terms.length ? terms.charCodeAt(at) : SPACE;
      if (code !== SPACE) {
        digest = (Math.imul(digest, 31) + code) | 0;
        continue;
      }
      if (this.#mayBe[digest & (SLOTS - 1)] === 1) this.#count(terms.slice(start, at));
      [start, digest] = [at + 1, 0];
    }
    return counts;
  }

  #count(term: string): void {
    for (const { at, weight } of this.#groupsOf.get(term) ?? []) this.#counts[at]! += weight;
  }
}

/** Steps in which the index stores the number of occurrences of a term in a passage. */
export const STEPS = [1, 2, 3, 4, 6, 8, 12, 16] as const;
/** First of the private-use characters that mark a term. They occur in no word. */
const FIRST_MARK = 0xe000;

/** Returns the index form of a term that occurs at least as often as the step requires. */
export function markedTerm(term: string, step: number): string {
  return term + String.fromCharCode(FIRST_MARK + step);
}

/** Returns the index forms of the terms that occur more than once: one form for each step that the term reaches. */
export function repeatedIn(terms: string): string[] {
  const counts = new Map<string, number>();
  for (const term of terms.split(" ")) counts.set(term, (counts.get(term) ?? 0) + 1);
  counts.delete("");
  return Array.from(counts).flatMap(([term, count]) =>
    count === 1 ? [] : STEPS.slice(1).flatMap((step) => (step <= count ? [markedTerm(term, step)] : [])),
  );
}

function digestOf(term: string): number {
  let digest = 0;
  for (let at = 0; at < term.length; at += 1) digest = (Math.imul(digest, 31) + term.charCodeAt(at)) | 0;
  return digest;
}
