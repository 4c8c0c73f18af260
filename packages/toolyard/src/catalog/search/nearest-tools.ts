import type { PreparedTool } from "../source-part.ts";
import type { Evidence } from "./likeness/blend.ts";
import { TopHits, type RankedHit } from "./top-hits.ts";

/** Maximum number of tools that are returned if no tool matches. */
const MAX_NEAREST = 5;
/** Score of the nearest tool. It is below every score of a match. */
const BEST_NEAREST_SCORE = 0.05;

export interface NearestSearch {
  readonly query: string;
  readonly limit: number;
  readonly evidence?: Evidence | undefined;
  passes(tool: PreparedTool): boolean;
}

/**
 * Returns the tools nearest to a query that no tool matches, with low scores, so that a request in unexpected words or
 * in another language still has results. The measure is vector similarity; without vectors, it is the share of letters
 * that the tool's name has in common with the query.
 */
export function nearestTools(tools: readonly PreparedTool[], search: NearestSearch): readonly RankedHit[] {
  const { query, limit, evidence, passes } = search;
  const wanted = evidence ? undefined : trigramsOf(query);
  const nearness = (rank: number): number =>
    evidence ? evidence.likeness.cosines[rank]! : shareOf(wanted!, trigramsOf(tools[rank]!.key.toLowerCase()));
  const top = new TopHits(Math.min(limit, MAX_NEAREST));
  for (let rank = 0; rank < tools.length; rank += 1) if (passes(tools[rank]!)) top.offer(rank, scoreOf(nearness(rank)));
  return top.ranked;
}

function scoreOf(nearness: number): number {
  const share = Number.isFinite(nearness) ? Math.max(0, Math.min(1, nearness)) : 0;
  return Math.max(0.0001, Math.round(BEST_NEAREST_SCORE * share * 10_000) / 10_000);
}

function trigramsOf(text: string): ReadonlySet<string> {
  const found = new Set<string>();
  for (let at = 0; at + 3 <= text.length; at += 1) found.add(text.slice(at, at + 3));
  return found;
}

function shareOf(wanted: ReadonlySet<string>, found: ReadonlySet<string>): number {
  let shared = 0;
  for (const trigram of found) if (wanted.has(trigram)) shared += 1;
  return found.size === 0 ? 0 : shared / found.size;
}
