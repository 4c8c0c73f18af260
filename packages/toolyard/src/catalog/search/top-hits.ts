export interface RankedHit {
  /** Index of the tool in name order. */
  readonly rank: number;
  readonly score: number;
}

/** Keeps a limited number of the best hits, the highest score first; equal scores by rank. */
export class TopHits {
  readonly #limit: number;
  readonly #hits: RankedHit[] = [];

  constructor(limit: number) {
    this.#limit = limit;
  }

  get ranked(): readonly RankedHit[] {
    return this.#hits;
  }

  offer(rank: number, score: number): void {
    const hits = this.#hits;
    const last = hits.length === this.#limit ? hits.at(-1) : undefined;
    if (last && !isBefore(rank, score, last)) return;
    let low = 0;
    let high = hits.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (isBefore(rank, score, hits[middle]!)) high = middle;
      else low = middle + 1;
    }
    hits.splice(low, 0, { rank, score });
    if (hits.length > this.#limit) hits.pop();
  }
}

function isBefore(rank: number, score: number, other: RankedHit): boolean {
  return score > other.score || (score === other.score && rank < other.rank);
}
