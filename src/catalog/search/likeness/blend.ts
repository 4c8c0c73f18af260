import type { SearchReasons } from "../../../core/ports.ts";
import { keepBest, roundReason, type Scores } from "../scores.ts";
import type { Ranking } from "../ranking.ts";
import { NEIGHBOURS, NOBODY, type Neighbours } from "./neighbours.ts";
import type { Likeness } from "./usual.ts";

/** What is known of a query beside the words that it shares with tools. By rank. */
export interface Evidence {
  readonly likeness: Likeness;
  readonly neighbours?: Neighbours;
}

/** Where tools belong, by rank. */
export interface Places {
  readonly sources: Uint32Array;
  readonly sourceCount: number;
}

interface BlendRules {
  readonly places: Places;
  readonly ranking: Ranking;
}

/** What a tool counts more of which the query is the name, but for the order of its words. */
const NAMED = 0.5;
/** Deviations above the usual likeness that count as the most there is. */
const MOST_DEVIATIONS = 8;
/** From here on a tool is found that shares no word with the query: by cosine, and by deviations. */
const FOUND_COSINE = 0.4;
const FOUND_DEVIATIONS = 2.5;
const BEST_SCORE = 0.99;

/**
 * Words and likeness as one: both on one scale, with what the nearest tools of other servers and the best of the same
 * server say.
 */
export class Blend {
  /** Tools that were found, each once. */
  readonly ranks: readonly number[];
  readonly #sums: Float64Array;
  readonly #words: Float64Array;
  readonly #meanings: Float64Array;
  /** By source. */
  readonly #servers: Float64Array;
  readonly #sources: Uint32Array;

  constructor(scores: Scores, { likeness, neighbours }: Evidence, { places, ranking }: BlendRules) {
    const { sources } = places;
    const words = (this.#words = wordShares(scores, sources.length));
    for (const rank of scores.ranks) if (scores.isNamed(rank)) words[rank]! += NAMED;
    const sums = (this.#sums = words.slice());
    if (neighbours)
      for (let rank = 0; rank < sums.length; rank += 1)
        sums[rank]! += (ranking.kinShare * wordsOfKin(words, neighbours.ranks, rank)) / NEIGHBOURS;
    const { meanings, near } = meaningsOf(likeness, ranking.likeness);
    for (let rank = 0; rank < sums.length; rank += 1) sums[rank]! += meanings[rank]!;
    this.#meanings = meanings;
    this.ranks = [...scores.ranks, ...near.filter((rank) => words[rank] === 0)];
    this.#servers = serverShares(sums, this.ranks, { places, ranking });
    for (const rank of this.ranks) sums[rank]! += this.#servers[sources[rank]!]!;
    this.#sources = sources;
  }

  reasonsOf(rank: number): SearchReasons {
    const [words, meaning] = [this.#words[rank]!, this.#meanings[rank]!];
    const server = this.#servers[this.#sources[rank]!]!;
    const neighbours = this.#sums[rank]! - words - meaning - server;
    return {
      words: roundReason(words),
      meaning: roundReason(meaning),
      neighbours: roundReason(neighbours),
      server: roundReason(server),
    };
  }

  /** Above 0 and below 1; what is compared is what is shown: four digits. */
  scoreOf(rank: number): number {
    const share = BEST_SCORE * (1 - Math.exp(-this.#sums[rank]!));
    return Math.max(0.0001, Math.round(share * 10_000) / 10_000);
  }
}

/** By rank: how much of what the words of the best tool tell this one's do. */
function wordShares(scores: Scores, size: number): Float64Array {
  const shares = new Float64Array(size);
  let most = 0;
  for (const rank of scores.ranks) most = Math.max(most, scores.shareOf(rank));
  for (const rank of scores.ranks) shares[rank] = scores.shareOf(rank) / most;
  return shares;
}

function wordsOfKin(words: Float64Array, kin: Int32Array, rank: number): number {
  let sum = 0;
  for (let at = rank * NEIGHBOURS; at < (rank + 1) * NEIGHBOURS && kin[at] !== NOBODY; at += 1) sum += words[kin[at]!]!;
  return sum;
}

/** By rank, and those that are found by likeness alone. */
function meaningsOf({ cosines, mean, deviation }: Likeness, share: number) {
  const near: number[] = [];
  const meanings = new Float64Array(cosines.length);
  for (let rank = 0; rank < cosines.length; rank += 1) {
    const cosine = cosines[rank]!;
    const above = Math.min((cosine - mean) / deviation, MOST_DEVIATIONS);
    if (above <= 0) continue;
    meanings[rank] = (share * above) / MOST_DEVIATIONS;
    if (cosine >= FOUND_COSINE && above >= FOUND_DEVIATIONS) near.push(rank);
  }
  return { meanings, near };
}

/** By source: what its best tools say of each of them. */
function serverShares(sums: Float64Array, ranks: readonly number[], { places, ranking }: BlendRules): Float64Array {
  const { sources, sourceCount } = places;
  const { blendServerShare, serverTools } = ranking;
  const best = new Float64Array(sourceCount * serverTools);
  for (const rank of ranks)
    keepBest(best.subarray(sources[rank]! * serverTools, (sources[rank]! + 1) * serverTools), sums[rank]!);
  return Float64Array.from({ length: sourceCount }, (_, source) => {
    let sum = 0;
    for (let at = 0; at < serverTools; at += 1) sum += best[source * serverTools + at]!;
    return (blendServerShare * sum) / serverTools;
  });
}
