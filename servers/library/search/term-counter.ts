import type { TermGroup } from "./terms.ts";

const SPACE = 32;
/** A power of two, much more than a query has terms. */
const SLOTS = 4_096;

/**
 * Counts a query's terms in the texts of thousands of passages. A word is cut out of its text only where its digest is
 * that of a term, so that what is passed over costs no memory.
 */
export class TermCounter {
  readonly #groupsOf = new Map<string, number[]>();
  readonly #mayBe = new Uint8Array(SLOTS);
  readonly #counts: Float64Array;

  constructor(groups: readonly TermGroup[]) {
    this.#counts = new Float64Array(groups.length);
    for (const [at, group] of groups.entries())
      for (const term of group) {
        this.#groupsOf.set(term, [...(this.#groupsOf.get(term) ?? []), at]);
        this.#mayBe[digestOf(term) & (SLOTS - 1)] = 1;
      }
  }

  /** How often each group stands in terms with spaces between: the same array each time. */
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
    for (const at of this.#groupsOf.get(term) ?? []) this.#counts[at]! += 1;
  }
}

/** How often a term stands in a passage is told in these steps: at least so often. */
export const STEPS = [1, 2, 3, 4, 6, 8, 12, 16] as const;
/** Of letters for private use: no word has them. */
const FIRST_MARK = 0xe000;

/** A term as it is written where it stands so often at least. */
export function markedTerm(term: string, step: number): string {
  return term + String.fromCharCode(FIRST_MARK + step);
}

/** The terms that stand there more than once, marked with each step that they reach. */
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
