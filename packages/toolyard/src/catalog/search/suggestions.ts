import type { SearchFilter, SearchHit, SearchInstead } from "../../core/ports/ports.ts";
import { nearest } from "../../core/text/suggest.ts";
import type { PreparedTool } from "../source-part.ts";
import { passesFilter } from "./filter.ts";

export const MAX_NEAR = 5;

/**
 * Returns suggestions for a search without results: hits outside the filter, or names similar to a query of one word;
 * and the available servers.
 */
export function insteadOf(
  query: string,
  { server = "" }: SearchFilter,
  { permitted, outsideFilter, separator }: SuggestionContext,
): SearchInstead {
  const tools = permitted.filter((tool) => tool.record.role === undefined);
  const counts = new Map<string, number>();
  for (const { record } of tools) counts.set(record.source.id, (counts.get(record.source.id) ?? 0) + 1);
  const servers = Array.from(counts, ([id, count]) => ({ id, tools: count })).toSorted((a, b) =>
    a.id < b.id ? -1 : 1,
  );
  const near = outsideFilter.length > 0 ? outsideFilter.map((hit) => hit.name) : namesLike(query.trim(), tools);
  return { near, servers, noSuchServer: !tools.some(passesFilter({ server }, separator)) };
}

/** Data for the suggestions. */
interface SuggestionContext {
  readonly permitted: readonly PreparedTool[];
  /** Hits of the query outside the filter. */
  readonly outsideFilter: readonly SearchHit[];
  /** Text between a namespace and a name. */
  readonly separator: string;
}

// Names are compared only if the query may be a name, because the comparison scans all names.
function namesLike(query: string, tools: readonly PreparedTool[]): readonly string[] {
  return /\s/.test(query)
    ? []
    : nearest(
        query,
        tools.map((tool) => tool.key),
        MAX_NEAR,
      );
}
