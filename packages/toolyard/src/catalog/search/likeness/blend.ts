import type { SearchReasons } from "../../../core/ports/ports.ts";
import { keepBest, roundReason, type Scores } from "../scores.ts";
import type { Ranking } from "../ranking.ts";
import { NEIGHBOURS, NOBODY, type Neighbours } from "./neighbours.ts";
import type { Likeness } from "./common-direction.ts";

/** Evidence about a query, by rank, in addition to the words that tools and query share. */
export interface Evidence {
  readonly likeness: Likeness;
  readonly neighbours?: Neighbours;
}

/** Number of each tool's source, by rank. */
export interface SourceRanks {
  readonly sources: Uint32Array;
  readonly sourceCount: number;
}

interface BlendRules {
  readonly places: SourceRanks;
  readonly ranking: Ranking;
}

/** Bonus for a tool with a name equal to the query, ignoring word order. */
const NAMED = 0.5;
/** Maximum similarity, in deviations above the mean. */
const MOST_DEVIATIONS = 8;
/** Minimum cosine, and minimum deviations above the mean, for a tool without a word of the query. */
const FOUND_COSINE = 0.4;
const FOUND_DEVIATIONS = 2.5;
const BEST_SCORE = 0.99;
/**
 * Minimum of the divisor of word scores, as a share of the query's information. If the best tool matches a smaller
 * share, its word score stays below 1.
 */
const LEAST_DIVISOR = 0.5;

/**
 * Combines word scores and similarity on one scale. Adds to each tool a share of the scores of the nearest tools of
 * other servers and of the best tools of its own server.
 */
export class Blend {
  /** Ranks of the tools that were found, each once. */
  readonly ranks: readonly number[];
  /** Sums by rank, for the tools that were found. */
  readonly #sums: Float64Array;
  readonly #words: Float64Array;
  readonly #likeness: Likeness;
  readonly #share: number;
  /** For each source: the amount that its best tools add to the score of each of its tools. */
  readonly #servers: Float64Array;
  readonly #sources: Uint32Array;

  constructor(scores: Scores, { likeness, neighbours }: Evidence, { places, ranking }: BlendRules) {
    const { sources } = places;
    const words = (this.#words = wordShares(scores, sources.length));
    this.#likeness = likeness;
    this.#share = ranking.likeness;
    this.#sources = sources;
    const ranks = (this.ranks = [...scores.ranks, ...nearRanks(likeness, words)]);
    const sums = (this.#sums = new Float64Array(sources.length));
    const kin = neighbours?.ranks;
    for (const rank of ranks) {
      const said = kin ? (ranking.kinShare * wordsOfKin(words, kin, rank)) / NEIGHBOURS : 0;
      sums[rank] = words[rank]! + said + this.#meaningOf(rank);
    }
    const servers = (this.#servers = serverShares(sums, ranks, { places, ranking }));
    for (const rank of ranks) sums[rank]! += servers[sources[rank]!]!;
  }

  /** Returns the amount that similarity adds to the score of a tool. NaN counts as no similarity. */
  #meaningOf(rank: number): number {
    const { cosines, mean, deviation } = this.#likeness;
    const above = Math.min((cosines[rank]! - mean) / deviation, MOST_DEVIATIONS);
    return above > 0 ? (this.#share * above) / MOST_DEVIATIONS : 0;
  }

  reasonsOf(rank: number): SearchReasons {
    const [words, meaning] = [this.#words[rank]!, this.#meaningOf(rank)];
    const server = this.#servers[this.#sources[rank]!]!;
    const neighbours = this.#sums[rank]! - words - meaning - server;
    return {
      words: roundReason(words),
      meaning: roundReason(meaning),
      neighbours: roundReason(neighbours),
      server: roundReason(server),
    };
  }

  /**
   * Returns a score above 0 and below 1, rounded to the four digits that are shown, so that order and display agree.
   */
  scoreOf(rank: number): number {
    const share = BEST_SCORE * (1 - Math.exp(-this.#sums[rank]!));
    return Math.max(0.0001, Math.round(share * 10_000) / 10_000);
  }
}

/**
 * Returns the word scores by rank, as a share of the best tool's score, with a bonus if the words are the tool's name.
 */
function wordShares(scores: Scores, size: number): Float64Array {
  const shares = new Float64Array(size);
  // If the best tool matches only one of many words by chance, that match must not count as a full match.
  let most = LEAST_DIVISOR;
  for (const rank of scores.ranks) most = Math.max(most, scores.shareOf(rank));
  for (const rank of scores.ranks) shares[rank] = scores.shareOf(rank) / most + (scores.isNamed(rank) ? NAMED : 0);
  return shares;
}

function wordsOfKin(words: Float64Array, kin: Int32Array, rank: number): number {
  let sum = 0;
  for (let at = rank * NEIGHBOURS; at < (rank + 1) * NEIGHBOURS && kin[at] !== NOBODY; at += 1) sum += words[kin[at]!]!;
  return sum;
}

/** Returns the ranks of tools that are found by similarity only. */
function nearRanks({ cosines, mean, deviation }: Likeness, words: Float64Array): number[] {
  const near: number[] = [];
  const least = Math.max(FOUND_COSINE, mean + FOUND_DEVIATIONS * deviation);
  for (let rank = 0; rank < cosines.length; rank += 1)
    if (cosines[rank]! >= least && words[rank] === 0) near.push(rank);
  return near;
}

/** Returns for each source the amount that its best tools add to the score of each of its tools. */
function serverShares(sums: Float64Array, ranks: readonly number[], { places, ranking }: BlendRules): Float64Array {
  const { sources, sourceCount } = places;
  const { blendServerShare, serverTools } = ranking;
  const best = new Float64Array(sourceCount * serverTools);
  for (const rank of ranks) keepBest(best, { begin: sources[rank]! * serverTools, count: serverTools }, sums[rank]!);
  const shares = new Float64Array(sourceCount);
  for (let at = 0; at < best.length; at += 1)
    shares[Math.floor(at / serverTools)]! += (blendServerShare * best[at]!) / serverTools;
  return shares;
}
