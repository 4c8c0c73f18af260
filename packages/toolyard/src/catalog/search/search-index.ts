import type { SearchAnswer, SearchHit } from "../../core/ports/ports.ts";
import { isJsonObject, stringMember } from "../../core/json/json.ts";
import { inSlices } from "../../core/timing/slices.ts";
import { visibleName } from "../../core/names/names.ts";
import type { ToolRecord } from "../../core/sources/records.ts";
import type { PreparedTool, SourcePart } from "../source-part.ts";
import { knownExpansions, looseExpansions, type Expansion } from "./expand-word.ts";
import { Blend, type Evidence } from "./likeness/blend.ts";
import { FURTHER_RESULTS, DEFAULT_RESULTS, MAX_RESULTS } from "./limits.ts";
import { DEPRECATED_FACTOR, deprecationOf } from "./deprecation.ts";
import { documentOf } from "./document.ts";
import { nearestTools } from "./nearest-tools.ts";
import { partIndexSteps, type PartIndex } from "./part-index.ts";
import { RANKING, type Ranking } from "./ranking.ts";
import { Scores } from "./scores.ts";
import { symbolWords } from "./symbol-words.ts";
import { TopHits } from "./top-hits.ts";
import { Vocabulary } from "./vocabulary.ts";
import { WholeIndex } from "./whole-index.ts";
import { queryWords, type QueryWord } from "./words.ts";

export interface IndexSearch {
  readonly limit: number;
  /** Tools with the whole query as their name. */
  readonly exact: readonly PreparedTool[];
  passes(tool: PreparedTool): boolean;
  /** Evidence besides the words, by rank of `tools`. */
  readonly evidence?: Evidence | undefined;
  /** True to include the reasons of each hit. @default false */
  readonly why?: boolean | undefined;
  /** True to return the nearest tools, with low scores, if no tool matches. @default false */
  readonly givesNearest?: boolean;
}

/** Maximum number of query words that are matched loosely, because each one requires a scan of the vocabulary. */
const MAX_LOOSE_WORDS = 8;

/**
 * Fielded BM25 over tools: words of name, keywords, server, description and parameters, in this order of weight. Names
 * whose words are all in the query, adjacent words, and other matching tools of the server get a bonus. The part of
 * each source is indexed separately and only once. Scores are between 0 and 1; equal scores are in name order. The same
 * query to the same tools always has the same result.
 */
export class SearchIndex {
  /** Tools sorted by rendered name, without discovery tools, which are never found. */
  readonly tools: readonly PreparedTool[];
  readonly #parts: readonly SourcePart[];
  readonly #ranking: Ranking;
  readonly #rankOf: ReadonlyMap<ToolRecord, number>;
  #whole: WholeIndex | undefined;
  #vocabulary: Vocabulary | undefined;
  #preparing: Promise<void> | undefined;
  #byName: ReadonlyMap<string, readonly number[]> | undefined;
  /** Deprecated tools by rank, with the ranks of their replacements. */
  #deprecated: ReadonlyMap<number, readonly number[]> | undefined;

  /** `rows`: the tools that a caller may find. Results reveal nothing about other tools in `parts`. */
  constructor(rows: readonly PreparedTool[], parts: readonly SourcePart[], ranking = RANKING) {
    this.#ranking = ranking;
    this.tools = rows.filter((row) => row.record.role !== "discovery");
    const ranks = (this.#rankOf = new Map<ToolRecord, number>());
    for (let rank = 0; rank < this.tools.length; rank += 1) ranks.set(this.tools[rank]!.record, rank);
    this.#parts = parts;
  }

  /**
   * Prepares searches in steps, after the steps of `before`. Returns `undefined` if no wait was needed. If this is not
   * called, the first search prepares everything synchronously.
   */
  prepare(before: () => Iterable<void>): Promise<void> | undefined {
    if (this.#whole) return undefined;
    this.#preparing ??= inSlices(this.#allSteps(before))?.finally(() => (this.#preparing = undefined));
    return this.#preparing;
  }

  *#allSteps(before: () => Iterable<void>): Generator<void, void> {
    yield* before();
    yield* this.#steps();
  }

  *#steps(): Generator<void, void> {
    this.#byName ??= yield* namesOf(this.tools);
    this.#deprecated ??= yield* deprecatedTools(this.tools);
    const parts: PartIndex[] = [];
    for (const part of this.#parts) parts.push(yield* partIndexSteps(part, this.#ranking));
    const rankOf = (part: number, at: number): number => this.#rankOf.get(this.#parts[part]!.tools[at]!.record) ?? -1;
    const whole = yield* WholeIndex.steps({ size: this.tools.length, parts, rankOf });
    this.#vocabulary = yield* Vocabulary.steps(this.#written());
    this.#whole = whole;
  }

  /** Yields the words of names and keywords as written, only of tools that can be found. */
  *#written(): Generator<readonly string[], void> {
    for (const tool of this.tools) yield documentOf(tool, this.#ranking).nameWords;
  }

  get #index(): WholeIndex {
    if (!this.#whole) for (const _ of this.#steps());
    return this.#whole!;
  }

  search(query: string, options: IndexSearch): SearchAnswer {
    const limit = resolveLimit(options.limit);
    const text = query.trim().toLowerCase();
    if (text === "") return this.#everything(limit, options);
    const words = this.#scores([...queryWords(query), ...this.#knownSymbols(query)]);
    const { evidence } = options;
    const scores = evidence ? new Blend(words, evidence, { places: this.#index, ranking: this.#ranking }) : words;
    const exact = this.#exactRanks(text, options);
    const top = new TopHits(limit);
    let total = 0;
    for (const rank of exact) {
      if (!options.passes(this.tools[rank]!)) continue;
      total += 1;
      top.offer(rank, 1);
    }
    const found: ReadonlySet<number> = this.#deprecated!.size > 0 ? new Set(scores.ranks) : NO_RANKS;
    for (const rank of scores.ranks) {
      if (exact.has(rank) || !options.passes(this.tools[rank]!)) continue;
      total += 1;
      top.offer(rank, this.#scoreOf(rank, found, scores));
    }
    if (total === 0 && options.givesNearest === true) return this.#nearest(text, limit, options);
    const hits = top.ranked.map(({ rank, score }) => ({
      ...toHit(this.tools[rank]!, score),
      ...(options.why === true && !exact.has(rank) && { why: scores.reasonsOf(rank) }),
    }));
    return { hits, total };
  }

  /**
   * Returns the score of a tool. The score of a deprecated tool is reduced, and always below the scores of its
   * replacements.
   */
  #scoreOf(rank: number, found: ReadonlySet<number>, scores: Scores | Blend): number {
    const replacements = this.#deprecated!.get(rank);
    const score = scores.scoreOf(rank);
    if (!replacements) return score;
    const others = replacements.filter((other) => found.has(other)).map((other) => scores.scoreOf(other) - LEAST_STEP);
    return Math.max(LEAST_STEP, roundScore(Math.min(score * DEPRECATED_FACTOR, ...others)));
  }

  #nearest(query: string, limit: number, { evidence, passes }: IndexSearch): SearchAnswer {
    const hits = nearestTools(this.tools, { query, limit, evidence, passes });
    return { hits: hits.map(({ rank, score }) => toHit(this.tools[rank]!, score)), total: hits.length };
  }

  #everything(limit: number, { passes }: IndexSearch): SearchAnswer {
    const all = this.tools.filter((row) => passes(row));
    return { hits: all.slice(0, limit).map((row) => toHit(row, 1)), total: all.length };
  }

  #exactRanks(text: string, { exact }: IndexSearch): ReadonlySet<number> {
    const given = exact.flatMap((tool) => this.#rankOf.get(tool.record) ?? []);
    return new Set([...given, ...(this.#byName?.get(text) ?? [])]);
  }

  /** Returns the words with symbols that a tool has as keyword. Other symbols in the query count as punctuation. */
  #knownSymbols(query: string): QueryWord[] {
    const known = symbolWords(query).filter((word) => this.#index.postings(word) !== undefined);
    return known.map((text) => ({ text, stem: text }));
  }

  /** Returns the scores by rank, for every tool with a matching word. */
  #scores(words: readonly QueryWord[]): Scores {
    const scores = new Scores(this.#index, this.#ranking);
    const rarities: number[] = [];
    let loose = 0;
    for (const word of words) {
      let found = this.#collect(knownExpansions(word.stem, this.#ranking.synonym), scores);
      if (found === 0 && loose < MAX_LOOSE_WORDS) {
        loose += 1;
        found = this.#collect(looseExpansions(word.text, this.#vocabulary!), scores);
      }
      const rarity = Math.log(1 + (this.tools.length - found + 0.5) / (found + 0.5));
      scores.closeWord(rarity);
      rarities.push(rarity);
    }
    for (let at = 0; at + 1 < words.length; at += 1) {
      const rarity = (rarities[at]! + rarities[at + 1]!) / 2;
      const ranks = this.#index.withNeighbours(words[at]!.stem, words[at + 1]!.stem);
      for (const rank of ranks) scores.noteNeighbours(rank, rarity);
    }
    scores.close();
    return scores;
  }

  /**
   * Records the matches of the words. Returns the approximate number of tools with the word itself. If no tool has the
   * word, returns the number of tools with any expansion.
   */
  #collect(expansions: readonly Expansion[], scores: Scores): number {
    let own = 0;
    let found = 0;
    for (const { word, factor } of expansions) {
      const postings = this.#index.postings(word);
      if (!postings) continue;
      scores.note(postings, factor);
      if (factor === 1) own = postings.ranks.length;
      found += postings.ranks.length;
    }
    return own > 0 ? own : Math.min(found, this.tools.length);
  }
}

/** Smallest difference between two displayed scores. */
const LEAST_STEP = 0.0001;

function roundScore(score: number): number {
  return Math.round(score / LEAST_STEP) * LEAST_STEP;
}

const NO_RANKS: ReadonlySet<number> = new Set();

function* deprecatedTools(tools: readonly PreparedTool[]): Generator<void, ReadonlyMap<number, readonly number[]>> {
  const found = new Map<number, readonly number[]>();
  for (const [rank, { record }] of tools.entries()) {
    yield;
    const replacements = deprecationOf(record)?.replacements;
    if (!replacements) continue;
    const names = new Set(replacements);
    const others = tools.flatMap((other, at) =>
      at !== rank && other.record.source === record.source && names.has(other.record.name) ? [at] : [],
    );
    found.set(rank, others);
  }
  return found;
}

/** Maps names in lower case, with and without prefix, to ranks, in steps. */
function* namesOf(rows: readonly PreparedTool[]): Generator<void, ReadonlyMap<string, readonly number[]>> {
  const names = new Map<string, number[]>();
  for (const [rank, row] of rows.entries()) {
    for (const name of new Set([row.key.toLowerCase(), visibleName(row.record).toLowerCase()])) {
      const list = names.get(name);
      if (list) list.push(rank);
      else names.set(name, [rank]);
    }
    yield;
  }
  return names;
}

/** Returns a tool as a search hit. */
export function toHit({ key, record, entry }: PreparedTool, score: number): SearchHit {
  const { inputSchema: schema, outputSchema } = entry;
  return {
    name: key,
    server: record.source.id,
    description: stringMember(entry, "description") ?? record.description,
    score,
    inputSchema: isJsonObject(schema) ? schema : { type: "object" },
    ...(isJsonObject(outputSchema) && { outputSchema }),
  };
}

/** Returns the number of hits, at most the limit. Returns 5 for NaN and values below 1. */
function resolveLimit(limit: number): number {
  return Number.isNaN(limit) || limit < 1
    ? DEFAULT_RESULTS
    : Math.min(Math.floor(limit), MAX_RESULTS + FURTHER_RESULTS);
}
