import type { SearchReasons } from "../../core/ports/ports.ts";
import type { Ranking } from "./ranking.ts";
import type { Postings, WholeIndex } from "./whole-index.ts";

/** Maximum score of a tool whose name is not exactly the query. */
const BEST_SCORE = 0.99;

/** Sums of the matches of one query's words, by rank (index in name order). */
export class Scores {
  /** Ranks with a match, each once. */
  readonly ranks: number[] = [];
  readonly #index: WholeIndex;
  readonly #ranking: Ranking;
  readonly #sums: Float64Array;
  readonly #word: Float32Array;
  readonly #named: Uint8Array;
  /** Per tool: information of the matched words that distinguish it from other tools of its server. */
  readonly #apart: Float64Array;
  /** For each source: the number of its tools with the current word. */
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

  /** Records the matches of the current word or its replacement. Only the best match in a tool counts. */
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

  /** Ends a word. `rarity` is the word's information, which counts for the query even if no tool has the word. */
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

  /**
   * Records that two adjacent query words are adjacent in the tool's description too. `rarity` is the average
   * information of both words.
   */
  noteNeighbours(rank: number, rarity: number): void {
    this.#sums[rank]! += this.#ranking.neighbours * rarity;
  }

  /** Ends the query: adds the contributions of names and servers. */
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

  /**
   * Lowers the sums of the tools of one server by their distance to its most distinctive tool. The sum of that tool
   * stays unchanged.
   */
  #setApart(): void {
    const { sources, sourceCount } = this.#index;
    const most = new Float64Array(sourceCount);
    for (const rank of this.ranks) most[sources[rank]!] = Math.max(most[sources[rank]!]!, this.#apart[rank]!);
    for (const rank of this.ranks) {
      const lost = this.#ranking.siblings * (most[sources[rank]!]! - this.#apart[rank]!);
      this.#sums[rank] = Math.max(this.#sums[rank]! / 2, this.#sums[rank]! - lost);
    }
  }

  /** Returns the share of the query's information that was found. May exceed 1; 0 if nothing was found. */
  shareOf(rank: number): number {
    return this.#sums[rank]! / this.#most;
  }

  /** Returns true if the query equals the tool's name, ignoring word order. */
  isNamed(rank: number): boolean {
    const length = this.#index.nameLengths[rank]!;
    return length === this.#words && this.#named[rank]! >= length;
  }

  reasonsOf(rank: number): SearchReasons {
    return { words: roundReason(this.shareOf(rank)), meaning: 0, neighbours: 0, server: 0 };
  }

  /**
   * Returns a score above 0 and below 1. It depends on the share of the query's information that was found, and on the
   * quality of the matches. Rounded to the four digits that are shown, so that order and display agree.
   */
  scoreOf(rank: number): number {
    const share = BEST_SCORE * (1 - Math.exp(-this.shareOf(rank)));
    return Math.max(0.0001, Math.round(share * 10_000) / 10_000);
  }
}

export function roundReason(value: number): number {
  return Math.round(value * 1000) / 1000;
}

/** Inserts a sum into the `count` greatest sums of a server, which start at `begin` in descending order. */
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
