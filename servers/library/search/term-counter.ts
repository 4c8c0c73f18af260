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

function digestOf(term: string): number {
  let digest = 0;
  for (let at = 0; at < term.length; at += 1) digest = (Math.imul(digest, 31) + term.charCodeAt(at)) | 0;
  return digest;
}
