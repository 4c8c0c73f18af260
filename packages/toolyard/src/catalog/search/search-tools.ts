import type { View } from "../../core/ports/hub-port.ts";
import type { SearchAnswer, SearchFilter } from "../../core/ports/ports.ts";
import { EVERYTHING, permissionOf } from "../../core/ports/rights.ts";
import type { Snapshot } from "../snapshot.ts";
import { passesFilter } from "./filter.ts";
import type { Evidence } from "./likeness/blend.ts";
import type { EvidenceSource } from "./likeness/table-search.ts";
import { insteadOf, MAX_NEAR } from "./replacement.ts";
import { SearchIndex } from "./search-index.ts";

export interface ToolQuery {
  readonly query: string;
  readonly view: View;
  /** Below 1 or NaN: 5. */
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
  const elsewhere = isNarrowed
    ? index.search(query, { limit: MAX_NEAR, exact, evidence, passes: () => true }).hits
    : [];
  return { ...answer, instead: insteadOf(query, filter, { permitted: index.tools, elsewhere, separator }) };
}

/** Does the same with additional evidence, if it is available in time. */
export async function searchWith(snapshot: Snapshot, asked: ToolQuery, source: EvidenceSource): Promise<SearchAnswer> {
  // A list of everything is sorted by name.
  if (asked.query.trim() === "") return searchTools(snapshot, asked);
  const evidence = await source.evidence(asked.query, indexFor(snapshot, asked.view).tools);
  const answer = searchTools(snapshot, asked, evidence);
  return evidence ? answer : { ...answer, wordsAlone: true };
}

/**
 * Reads names and words of tools that were never searched, in steps. Returns `undefined` if that needed no waiting.
 */
export function prepareSearch(snapshot: Snapshot, view: View): Promise<void> | undefined {
  return indexFor(snapshot, view).prepare(() => snapshot.searchable.tools.steps());
}

/** A snapshot never changes, and neither do the words derived from it. */
const indexes = new WeakMap<Snapshot, Map<string, SearchIndex>>();
/** Most indexes per snapshot besides the full one; the least recently used is dropped. */
const MAX_NARROWED = 8;

/**
 * Returns the index for a caller; one with narrowed rights has an index of its permitted tools. If hidden tools counted
 * in word rarity, usual values or server contributions, ranks and scores would reveal them.
 */
function indexFor(snapshot: Snapshot, { principal }: View): SearchIndex {
  const permission = permissionOf(principal.rights);
  const key = permission.isNarrowed ? permission.key : EVERYTHING;
  let known = indexes.get(snapshot);
  if (!known) indexes.set(snapshot, (known = new Map()));
  const { tools, parts } = snapshot.searchable;
  const index = known.get(key) ?? new SearchIndex(tools.permitted(tools.rows, permission), parts);
  // Keeps the most recently used one last.
  known.delete(key);
  known.set(key, index);
  const oldest = [...known.keys()].find((one) => one !== EVERYTHING);
  if (known.size > MAX_NARROWED + 1 && oldest !== undefined) known.delete(oldest);
  return index;
}
