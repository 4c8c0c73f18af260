/** Saturation: how soon further occurrences of one word stop to matter. */
const SATURATION = 1.2;
/** Only an exact name is a whole 1. */
const BEST_SCORE = 0.99;

/** Sums up what the words of one query find, by place in the order of names. */
export class Scores {
  /** Places where a word was found, each once. */
  readonly ranks: number[] = [];
  readonly #sums: Float64Array;
  readonly #word: Float32Array;
  #touched: number[] = [];
  #most = 0;

  constructor(size: number) {
    this.#sums = new Float64Array(size);
    this.#word = new Float32Array(size);
  }

  /** The current word, or what stands for it, was found with this weight; only its best occurrence counts. */
  note(rank: number, weight: number): void {
    const last = this.#word[rank]!;
    if (weight <= last) return;
    if (last === 0) this.#touched.push(rank);
    this.#word[rank] = weight;
  }

  /** Ends a word. `rarity` is what it tells, found or not. */
  closeWord(rarity: number): void {
    for (const rank of this.#touched) {
      const weight = this.#word[rank]!;
      if (this.#sums[rank] === 0) this.ranks.push(rank);
      this.#sums[rank]! += (rarity * weight) / (weight + SATURATION);
      this.#word[rank] = 0;
    }
    this.#touched = [];
    this.#most += rarity;
  }

  /** The share of what could have been found, above 0 and below 1. What is compared is what is shown: four digits. */
  scoreOf(rank: number): number {
    const share = (BEST_SCORE * this.#sums[rank]!) / this.#most;
    return Math.max(0.0001, Math.round(share * 10_000) / 10_000);
  }
}
