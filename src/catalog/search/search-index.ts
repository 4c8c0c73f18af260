import type { SearchAnswer, SearchHit } from "../../core/ports.ts";
import { isJsonObject, stringMember } from "../../core/json.ts";
import { visibleName } from "../../core/names.ts";
import type { ToolRecord } from "../../core/records.ts";
import type { PreparedTool, SourcePart } from "../source-part.ts";
import { knownExpansions, looseExpansions, type Expansion } from "./expand-word.ts";
import { FURTHER_RESULTS, DEFAULT_RESULTS, MAX_RESULTS } from "./limits.ts";
import { partIndexOf, type PartIndex } from "./postings.ts";
import { Scores } from "./scores.ts";
import { TopHits } from "./top-hits.ts";
import { queryWords, type QueryWord } from "./words.ts";

export interface SearchOptions {
  readonly limit: number;
  /** Tools that the whole query is a name of. */
  readonly exact: readonly PreparedTool[];
  permits(tool: PreparedTool): boolean;
}

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
  readonly #rankOf: ReadonlyMap<ToolRecord, number>;
  #byName: ReadonlyMap<string, readonly number[]> | undefined;

  constructor(rows: readonly PreparedTool[], parts: readonly SourcePart[]) {
    this.#rows = rows.filter((row) => row.record.role !== "discovery");
    this.#rankOf = new Map(this.#rows.map((row, rank) => [row.record, rank]));
    const tools = parts.flatMap((part) => part.tools);
    this.#ranks = Int32Array.from(tools, (tool) => this.#rankOf.get(tool.record) ?? -1);
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
    const scores = this.#scores(queryWords(query));
    const exact = this.#exactRanks(text, options);
    const top = new TopHits(limit);
    let total = 0;
    for (const rank of new Set([...exact, ...scores.ranks])) {
      if (!options.permits(this.#rows[rank]!)) continue;
      total += 1;
      top.offer(rank, exact.has(rank) ? 1 : scores.scoreOf(rank));
    }
    return { hits: top.ranked.map(({ rank, score }) => toHit(this.#rows[rank]!, score)), total };
  }

  #everything(limit: number, { permits }: SearchOptions): SearchAnswer {
    const permitted = this.#rows.filter((row) => permits(row));
    return { hits: permitted.slice(0, limit).map((row) => toHit(row, 1)), total: permitted.length };
  }

  #exactRanks(text: string, { exact }: SearchOptions): ReadonlySet<number> {
    this.#byName ??= namesOf(this.#rows);
    const given = exact.flatMap((tool) => this.#rankOf.get(tool.record) ?? []);
    return new Set([...given, ...(this.#byName.get(text) ?? [])]);
  }

  /** Score by rank for every tool in which a word was found. */
  #scores(words: readonly QueryWord[]): Scores {
    const scores = new Scores(this.#rows.length);
    let loose = 0;
    for (const word of words) {
      let found = this.#collect(knownExpansions(word.stem), scores);
      if (found === 0 && loose < MAX_LOOSE_WORDS) {
        loose += 1;
        found = this.#collect(looseExpansions(word.text, this.#vocabulary()), scores);
      }
      scores.closeWord(Math.log(1 + (this.#rows.length - found + 0.5) / (found + 0.5)));
    }
    return scores;
  }

  /** Notes where the words stand. Returns in about how many tools: with the word itself, or with any where it is nowhere. */
  #collect(expansions: readonly Expansion[], scores: Scores): number {
    let own = 0;
    let found = 0;
    for (const { word, factor } of expansions) {
      let holders = 0;
      for (const { index, first } of this.#segments) {
        const postings = index.postings.get(word);
        if (!postings) continue;
        holders += postings.tools.length;
        for (let at = 0; at < postings.tools.length; at += 1) {
          const rank = this.#ranks[first + postings.tools[at]!]!;
          if (rank >= 0) scores.note(rank, factor * postings.weights[at]!);
        }
      }
      if (factor === 1) own = holders;
      found += holders;
    }
    return own > 0 ? own : Math.min(found, this.#rows.length);
  }

  *#vocabulary(): Iterable<string> {
    for (const { index } of this.#segments) yield* index.nameWords;
  }
}

/** Lower-case names, with prefix and without, to ranks. */
function namesOf(rows: readonly PreparedTool[]): ReadonlyMap<string, readonly number[]> {
  const names = new Map<string, number[]>();
  for (const [rank, row] of rows.entries()) {
    for (const name of new Set([row.key.toLowerCase(), visibleName(row.record).toLowerCase()])) {
      const list = names.get(name);
      if (list) list.push(rank);
      else names.set(name, [rank]);
    }
  }
  return names;
}

function toHit({ key, record, entry }: PreparedTool, score: number): SearchHit {
  const schema = entry["inputSchema"];
  return { name: key, description: stringMember(entry, "description") ?? record.description, score, inputSchema: isJsonObject(schema) ? schema : { type: "object" } };
}

function resolveLimit(limit: number): number {
  return Number.isNaN(limit) || limit < 1 ? DEFAULT_RESULTS : Math.min(Math.floor(limit), MAX_RESULTS + FURTHER_RESULTS);
}
