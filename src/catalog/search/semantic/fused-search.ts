import type { SearchAnswer, SearchHit } from "../../../core/ports.ts";
import type { PreparedTool } from "../../source-part.ts";
import { toHit } from "../search-index.ts";
import { fuseRanks } from "./fuse.ts";
import type { SemanticSearch } from "./semantic-search.ts";

/** How far down either order counts. */
const DEPTH = 100;

export interface FusedQuery {
  readonly query: string;
  readonly limit: number;
  /** Every tool that is ever found, and those of them that this search is about. */
  readonly all: readonly PreparedTool[];
  readonly permitted: readonly PreparedTool[];
  /** The answer by words alone. */
  lexical(limit: number): SearchAnswer;
}

/**
 * Words and likeness together. An exact name stays first, a list of everything stays by name, and without vectors in
 * time words alone decide.
 */
export async function fusedSearch(
  { query, limit, all, permitted, lexical }: FusedQuery,
  semantic: SemanticSearch,
): Promise<SearchAnswer> {
  const alike = query.trim() === "" ? undefined : await semantic.rank(query, { all, permitted, limit: DEPTH });
  if (!alike) return lexical(limit);
  const answer = lexical(Math.max(DEPTH, limit));
  const hits = new Map<string, SearchHit>(answer.hits.map((hit) => [hit.name, hit]));
  const further = alike.filter((tool) => !hits.has(tool.key));
  for (const tool of further) hits.set(tool.key, toHit(tool, 0));
  const exact = answer.hits.filter((hit) => hit.score === 1);
  const isExact = new Set(exact.map((hit) => hit.name));
  const scores = fuseRanks(
    answer.hits.map((hit) => hit.name),
    alike.map((tool) => tool.key),
  );
  const rest = Array.from(scores, ([name, score]) => ({ ...hits.get(name)!, score })).filter(
    (hit) => !isExact.has(hit.name),
  );
  const ranked = rest.toSorted((a, b) => b.score - a.score || (a.name < b.name ? -1 : 1));
  return { hits: [...exact, ...ranked].slice(0, limit), total: answer.total + further.length };
}
