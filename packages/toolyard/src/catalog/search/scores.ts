import type { SearchReasons } from "../../core/ports/ports.ts";
import type { Ranking } from "./ranking.ts";
import type { Postings, WholeIndex } from "./whole-index.ts";

/** Only an exact name is a whole 1. */
const BEST_SCORE = 0.99;

/** Sums up what the words of one query find, by place in the order of names. */
export class Scores {
  /** Places where a word was found, each once. */
  readonly ranks: number[] = [];
  readonly #index: WholeIndex;
  readonly #ranking: Ranking;
  readonly #sums: Float64Array;
  readonly #word: Float32Array;
  readonly #named: Uint8Array;
  /** What the words tell that set a tool apart from the others of its server. */
  readonly #apart: Float64Array;
  /** By source: in how many of its tools the current word was found. */
  readonly #havingWord: Uint32Array;
  #touched: number[] = [];
  #most = 0;
  #words = 0;

  constructor(index: WholeIndex, ranking: Ranking) {
    this.#index = index;
    this.#ranking = ranking;
    const size = index.sources.length;
    this.#sums = new Float64Array(size);
    this.#word = new Float32Array(size);
    this.#named = new Uint8Array(size);
    this.#apart = new Float64Array(size);
    this.#havingWord = new Uint32Array(index.sourceCount);
  }

  /** Notes where the current word, or what stands for it, was found; only its best occurrence in a tool counts. */
  note({ ranks, weights, inName }: Postings, factor: number): void {
    for (let at = 0; at < ranks.length; at += 1) {
      const rank = ranks[at]!;
      const weight = factor * weights[at]!;
      const last = this.#word[rank]!;
      if (factor === 1) this.#named[rank]! += inName[at]!;
      if (weight <= last) continue;
      if (last === 0) this.#touched.push(rank);
      this.#word[rank] = weight;
    }
  }

  /** Ends a word. `rarity` is what it tells, found or not. */
  closeWord(rarity: number): void {
    const { presence, saturation } = this.#ranking;
    const { sources, sourceSizes } = this.#index;
    for (const rank of this.#touched) this.#havingWord[sources[rank]!]! += 1;
    for (const rank of this.#touched) {
      const weight = this.#word[rank]!;
      const source = sources[rank]!;
      const told = rarity * (presence + ((saturation + 1) * weight) / (weight + saturation));
      if (this.#sums[rank] === 0) this.ranks.push(rank);
      this.#sums[rank]! += told;
      this.#apart[rank]! += told * (1 - this.#havingWord[source]! / sourceSizes[source]!);
      this.#word[rank] = 0;
    }
    for (const rank of this.#touched) this.#havingWord[sources[rank]!] = 0;
    this.#touched = [];
    this.#words += 1;
    this.#most += rarity;
  }

  /** Two words of the query stand side by side there too. `rarity` is what the two tell on average. */
  noteNeighbours(rank: number, rarity: number): void {
    this.#sums[rank]! += this.#ranking.neighbours * rarity;
  }

  /** Ends the query: what the names and the servers say is added. */
  close(): void {
    const { nameLengths, sources, sourceCount } = this.#index;
    const { nameCover, serverShare, serverTools } = this.#ranking;
    this.#setApart();
    const best = new Float64Array(sourceCount * serverTools);
    for (const rank of this.ranks) {
      const length = nameLengths[rank]!;
      if (length > 0) this.#sums[rank]! *= 1 + (nameCover * Math.min(this.#named[rank]!, length)) / length;
      keepBest(best, { begin: sources[rank]! * serverTools, count: serverTools }, this.#sums[rank]!);
    }
    for (const rank of this.ranks) {
      const first = sources[rank]! * serverTools;
      let sum = 0;
      for (let at = 0; at < serverTools; at += 1) sum += best[first + at]!;
      this.#sums[rank]! += (serverShare * sum) / serverTools;
    }
  }

  /** The sibling that most sets itself apart stays as it is, the others lose what they lack. */
  #setApart(): void {
    const { sources, sourceCount } = this.#index;
    const most = new Float64Array(sourceCount);
    for (const rank of this.ranks) most[sources[rank]!] = Math.max(most[sources[rank]!]!, this.#apart[rank]!);
    for (const rank of this.ranks) {
      const lost = this.#ranking.siblings * (most[sources[rank]!]! - this.#apart[rank]!);
      this.#sums[rank] = Math.max(this.#sums[rank]! / 2, this.#sums[rank]! - lost);
    }
  }

  /** How much of what the query tells was found. Not bound; 0 for nothing. */
  shareOf(rank: number): number {
    return this.#sums[rank]! / this.#most;
  }

  /** Whether the query is the tool's name, word for word, in any order. */
  isNamed(rank: number): boolean {
    const length = this.#index.nameLengths[rank]!;
    return length === this.#words && this.#named[rank]! >= length;
  }

  reasonsOf(rank: number): SearchReasons {
    return { words: roundReason(this.shareOf(rank)), meaning: 0, neighbours: 0, server: 0 };
  }

  /**
   * Above 0 and below 1, by how much of what the query tells was found, and how well. What is compared is what is
   * shown: four digits.
   */
  scoreOf(rank: number): number {
    const share = BEST_SCORE * (1 - Math.exp(-this.shareOf(rank)));
    return Math.max(0.0001, Math.round(share * 10_000) / 10_000);
  }
}

export function roundReason(value: number): number {
  return Math.round(value * 1000) / 1000;
}

/** Keeps the greatest of a server's sums, in falling order: `count` of them from `begin` on. */
export function keepBest(
  best: Float64Array,
  { begin, count }: { readonly begin: number; readonly count: number },
  sum: number,
): void {
  let value = sum;
  for (let at = begin; at < begin + count; at += 1) {
    const other = best[at]!;
    if (value <= other) continue;
    best[at] = value;
    value = other;
  }
}
