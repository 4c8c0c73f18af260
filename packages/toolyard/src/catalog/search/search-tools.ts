import type { View } from "../../core/ports/hub-port.ts";
import type { SearchAnswer, SearchFilter } from "../../core/ports/ports.ts";
import { EVERYTHING, permissionOf } from "../../core/ports/rights.ts";
import type { Snapshot } from "../snapshot.ts";
import { passesFilter } from "./filter.ts";
import type { Evidence } from "./likeness/blend.ts";
import type { EvidenceSource } from "./likeness/table-search.ts";
import { insteadOf, MAX_NEAR } from "./suggestions.ts";
import { SearchIndex } from "./search-index.ts";

export interface ToolQuery {
  readonly query: string;
  readonly view: View;
  /** Maximum number of tools. For NaN and values below 1, 5 tools are returned. */
  readonly limit: number;
  readonly filter?: SearchFilter;
}

/** Returns the best tools for a query among those that the view may use, listed or not (T23, T26). */
export function searchTools(snapshot: Snapshot, asked: ToolQuery, evidence?: Evidence): SearchAnswer {
  const { query, view, limit, filter = {} } = asked;
  const { tools, separator } = snapshot.searchable;
  const index = indexFor(snapshot, view);
  const exact = tools.candidates(query.trim());
  const passes = passesFilter(filter, separator);
  const isNarrowed = filter.server !== undefined || filter.readOnly === true;
  const options = {
    limit,
    exact,
    evidence,
    passes,
    why: filter.why,
    givesNearest: filter.nearest === true && !isNarrowed,
  };
  const answer = index.search(query, options);
  if (answer.total > 0) return answer;
  const outsideFilter = isNarrowed
    ? index.search(query, { limit: MAX_NEAR, exact, evidence, passes: () => true }).hits
    : [];
  return { ...answer, instead: insteadOf(query, filter, { permitted: index.tools, outsideFilter, separator }) };
}

/** Searches with additional evidence, if it is available in time. */
export async function searchWith(snapshot: Snapshot, asked: ToolQuery, source: EvidenceSource): Promise<SearchAnswer> {
  // For an empty query, all tools are sorted by name.
  if (asked.query.trim() === "") return searchTools(snapshot, asked);
  const evidence = await source.evidence(asked.query, indexFor(snapshot, asked.view).tools);
  const answer = searchTools(snapshot, asked, evidence);
  return evidence ? answer : { ...answer, wordsAlone: true };
}

/**
 * Prepares, in steps, the names and words of tools that were not searched before. Returns `undefined` if no wait was
 * needed.
 */
export function prepareSearch(snapshot: Snapshot, view: View): Promise<void> | undefined {
  return indexFor(snapshot, view).prepare(() => snapshot.searchable.tools.steps());
}

/** Indexes of each snapshot. A snapshot never changes, so its indexes do not either. */
const indexes = new WeakMap<Snapshot, Map<string, SearchIndex>>();
/** Maximum number of indexes per snapshot for callers with narrowed rights. The least recently used is removed. */
const MAX_NARROWED = 8;

/**
 * Returns the index for a caller. A caller with narrowed rights has an index of its permitted tools: if hidden tools
 * affected the rarity of words, the usual values or the contributions of servers, ranks and scores would reveal them.
 */
function indexFor(snapshot: Snapshot, { principal }: View): SearchIndex {
  const permission = permissionOf(principal.rights);
  const key = permission.isNarrowed ? permission.key : EVERYTHING;
  let known = indexes.get(snapshot);
  if (!known) indexes.set(snapshot, (known = new Map()));
  const { tools, parts } = snapshot.searchable;
  const index = known.get(key) ?? new SearchIndex(tools.permitted(tools.rows, permission), parts);
  // Moves this index to the end of the map: the first one is the least recently used.
  known.delete(key);
  known.set(key, index);
  const oldest = [...known.keys()].find((one) => one !== EVERYTHING);
  if (known.size > MAX_NARROWED + 1 && oldest !== undefined) known.delete(oldest);
  return index;
}
