import type { SearchFilter, SearchHit, SearchInstead } from "../../core/ports/ports.ts";
import { nearest } from "../../core/text/suggest.ts";
import type { PreparedTool } from "../source-part.ts";
import { passesFilter } from "./filter.ts";

export const MAX_NEAR = 5;

/**
 * Where to look when nothing was found: what the query finds where the filter does not look, else names that are
 * written like a query of one word; and the servers that there are.
 */
export function insteadOf(
  query: string,
  { server = "" }: SearchFilter,
  { permitted, elsewhere, separator }: Surroundings,
): SearchInstead {
  const tools = permitted.filter((tool) => tool.record.role === undefined);
  const counts = new Map<string, number>();
  for (const { record } of tools) counts.set(record.source.id, (counts.get(record.source.id) ?? 0) + 1);
  const servers = Array.from(counts, ([id, count]) => ({ id, tools: count })).toSorted((a, b) =>
    a.id < b.id ? -1 : 1,
  );
  const near = elsewhere.length > 0 ? elsewhere.map((hit) => hit.name) : namesLike(query.trim(), tools);
  return { near, servers, noSuchServer: !tools.some(passesFilter({ server }, separator)) };
}

/** What there is beside what a search is about. */
interface Surroundings {
  readonly permitted: readonly PreparedTool[];
  /** What the query finds where the filter does not look. */
  readonly elsewhere: readonly SearchHit[];
  /** What stands between a namespace and a name. */
  readonly separator: string;
}

// All names are walked through, so only for what may be one.
function namesLike(query: string, tools: readonly PreparedTool[]): readonly string[] {
  return /\s/.test(query)
    ? []
    : nearest(
        query,
        tools.map((tool) => tool.key),
        MAX_NEAR,
      );
}
