import type { SearchAnswer, SearchHit } from "../../core/ports.ts";
import { isJsonObject, stringMember } from "../../core/json.ts";
import { visibleName } from "../../core/names.ts";
import type { PreparedTool, SourcePart } from "../source-part.ts";
import { knownExpansions, looseExpansions, type Expansion } from "./expand-word.ts";
import { FURTHER_RESULTS, DEFAULT_RESULTS, MAX_RESULTS } from "./limits.ts";
import { partIndexOf, type PartIndex } from "./postings.ts";
import { TopHits } from "./top-hits.ts";
import { queryWords } from "./words.ts";

export interface SearchOptions {
  readonly limit: number;
  /** Tools that the whole query is a name of. */
  readonly exact: readonly PreparedTool[];
  permits(tool: PreparedTool): boolean;
}

/** Saturation: what a word's tenth occurrence adds to its first. */
const SATURATION = 1.2;
/** Only an exact name is a whole 1. */
const BEST_SCORE = 0.99;
/** Words of a query that are looked for loosely; each costs a walk over the vocabulary. */
const MAX_LOOSE_WORDS = 8;

/** One part with the place of its first tool in the whole. */
interface Segment {
  readonly index: PartIndex;
  readonly first: number;
}

/**
 * Fielded BM25 over tools: words of name, server, keywords, description and parameters, in this order of weight. The parts of the
 * sources are indexed by themselves and only once; what is joined here is a list of them. Scores lie between 0 and 1, equal ones are
 * in the order of names, and the same question to the same tools has the same answer.
 */
export class SearchIndex {
  /** Sorted by rendered name; discovery tools are never found. */
  readonly #rows: readonly PreparedTool[];
  readonly #segments: readonly Segment[];
  /** Place in the segments to place among the rows, which is the order of names; -1 for what is not found. */
  readonly #ranks: Int32Array;
  #byName: ReadonlyMap<string, readonly PreparedTool[]> | undefined;

  constructor(rows: readonly PreparedTool[], parts: readonly SourcePart[]) {
    this.#rows = rows.filter((row) => row.record.role !== "discovery");
    const rankOf = new Map(this.#rows.map((row, rank) => [row.record, rank]));
    const tools = parts.flatMap((part) => part.tools);
    this.#ranks = Int32Array.from(tools, (tool) => rankOf.get(tool.record) ?? -1);
    let first = 0;
    this.#segments = parts.map((part) => {
      const segment = { index: partIndexOf(part), first };
      first += part.tools.length;
      return segment;
    });
  }

  search(query: string, options: SearchOptions): SearchAnswer {
    const limit = resolveLimit(options.limit);
    const text = query.trim().toLowerCase();
    if (text === "") return this.#everything(limit, options);
    const scores = this.#scores(queryWords(text));
    for (const tool of this.#exactNames(text, options)) scores.set(this.#rows.indexOf(tool), 1);
    const top = new TopHits(limit);
    let total = 0;
    for (const [rank, score] of scores) {
      if (!options.permits(this.#rows[rank]!)) continue;
      total += 1;
      top.offer(rank, score);
    }
    return { hits: top.ranked.map(({ rank, score }) => toHit(this.#rows[rank]!, score)), total };
  }

  #everything(limit: number, { permits }: SearchOptions): SearchAnswer {
    const permitted = this.#rows.filter((row) => permits(row));
    return { hits: permitted.slice(0, limit).map((row) => toHit(row, 1)), total: permitted.length };
  }

  #exactNames(text: string, { exact }: SearchOptions): Iterable<PreparedTool> {
    this.#byName ??= namesOf(this.#rows);
    const named = this.#byName.get(text) ?? [];
    return new Set([...exact.filter((tool) => tool.record.role !== "discovery"), ...named]);
  }

  /** Rank to score, for every tool in which a word was found. */
  #scores(words: readonly string[]): Map<number, number> {
    const sums = new Map<number, number>();
    let most = 0;
    let loose = 0;
    for (const word of words) {
      let found = this.#occurrences(knownExpansions(word));
      if (found.size === 0 && loose < MAX_LOOSE_WORDS) {
        loose += 1;
        found = this.#occurrences(looseExpansions(word, this.#vocabulary()));
      }
      const rarity = Math.log(1 + (this.#rows.length - found.size + 0.5) / (found.size + 0.5));
      most += rarity;
      for (const [rank, weight] of found) sums.set(rank, (sums.get(rank) ?? 0) + (rarity * weight) / (weight + SATURATION));
    }
    for (const [rank, sum] of sums) sums.set(rank, roundScore((BEST_SCORE * sum) / most));
    return sums;
  }

  /** Rank to weight of the best expansion found there. */
  #occurrences(expansions: readonly Expansion[]): Map<number, number> {
    const found = new Map<number, number>();
    for (const { word, factor } of expansions) {
      for (const { index, first } of this.#segments) {
        const postings = index.postings.get(word);
        if (!postings) continue;
        for (let at = 0; at < postings.tools.length; at += 1) {
          const rank = this.#ranks[first + postings.tools[at]!]!;
          const weight = factor * postings.weights[at]!;
          if (rank >= 0 && weight > (found.get(rank) ?? 0)) found.set(rank, weight);
        }
      }
    }
    return found;
  }

  *#vocabulary(): Iterable<string> {
    for (const { index } of this.#segments) yield* index.nameWords;
  }
}

function namesOf(rows: readonly PreparedTool[]): ReadonlyMap<string, readonly PreparedTool[]> {
  const names = new Map<string, PreparedTool[]>();
  for (const row of rows) {
    for (const name of new Set([row.key.toLowerCase(), visibleName(row.record).toLowerCase()])) {
      const list = names.get(name);
      if (list) list.push(row);
      else names.set(name, [row]);
    }
  }
  return names;
}

function toHit({ key, record, entry }: PreparedTool, score: number): SearchHit {
  const schema = entry["inputSchema"];
  return { name: key, description: stringMember(entry, "description") ?? record.description, score, inputSchema: isJsonObject(schema) ? schema : { type: "object" } };
}

// What is sorted is what is shown, so that tools that look equal are in the order of names.
function roundScore(score: number): number {
  return Math.max(0.0001, Math.round(score * 10_000) / 10_000);
}

function resolveLimit(limit: number): number {
  return Number.isNaN(limit) || limit < 1 ? DEFAULT_RESULTS : Math.min(Math.floor(limit), MAX_RESULTS + FURTHER_RESULTS);
}
