import type { View } from "../../core/hub-port.ts";
import type { SearchAnswer, SearchFilter } from "../../core/ports.ts";
import { permissionOf } from "../../core/rights.ts";
import { inSlices } from "../../core/slices.ts";
import type { Snapshot } from "../snapshot.ts";
import type { PreparedTool } from "../source-part.ts";
import type { SourcePart } from "../source-part.ts";
import { documentOf } from "./document.ts";
import { passesFilter } from "./filter.ts";
import { insteadOf, MAX_NEAR } from "./instead.ts";
import { RANKING } from "./ranking.ts";
import { resolveLimit, SearchIndex } from "./search-index.ts";
import { fusedSearch } from "./semantic/fused-search.ts";
import type { SemanticSearch } from "./semantic/semantic-search.ts";

export interface ToolQuery {
  readonly query: string;
  readonly view: View;
  /** Below 1 or no number: 5. */
  readonly limit: number;
  readonly filter?: SearchFilter;
}

/** What a snapshot offers does not change, and neither does what is known of its words. */
const indexes = new WeakMap<Snapshot, SearchIndex>();

/** The best tools for a query among those that the view may use, listed or not (T23, T26). */
export function searchTools(snapshot: Snapshot, { query, view, limit, filter = {} }: ToolQuery): SearchAnswer {
  const { tools, separator } = snapshot.searchable;
  const index = indexOf(snapshot);
  const permission = permissionOf(view.principal.rights);
  const exact = tools.candidates(query.trim());
  const passes = passesFilter(filter, separator);
  const permits = (tool: PreparedTool): boolean => tools.permits(tool, permission);
  const answer = index.search(query, { limit, exact, permits: (tool) => permits(tool) && passes(tool) });
  if (answer.total > 0) return answer;
  const isNarrowed = filter.server !== undefined || filter.readOnly === true;
  const elsewhere = isNarrowed ? index.search(query, { limit: MAX_NEAR, exact, permits }).hits : [];
  const permitted = tools.rows.filter(permits);
  return { ...answer, instead: insteadOf(query, filter, { permitted, elsewhere, separator }) };
}

/** The same with the likeness of texts, where that is known in time. */
export function searchFused(snapshot: Snapshot, asked: ToolQuery, semantic: SemanticSearch): Promise<SearchAnswer> {
  const { query, view, limit, filter = {} } = asked;
  const { tools, separator } = snapshot.searchable;
  const all = tools.rows.filter((tool) => tool.record.role !== "discovery");
  const permission = permissionOf(view.principal.rights);
  const passes = passesFilter(filter, separator);
  const permitted = all.filter((tool) => tools.permits(tool, permission) && passes(tool));
  const lexical = (count: number): SearchAnswer => searchTools(snapshot, { ...asked, limit: count });
  return fusedSearch({ query, limit: resolveLimit(limit), all, permitted, lexical }, semantic);
}

/** Reads the words of tools that were never searched, bit by bit. Returns nothing where that took no waiting. */
export function prepareSearch(snapshot: Snapshot): Promise<void> | undefined {
  return indexes.has(snapshot) ? undefined : inSlices(documentSteps(snapshot.searchable.parts));
}

function* documentSteps(parts: readonly SourcePart[]): Generator<void, void> {
  for (const { tools } of parts)
    for (const tool of tools) {
      if (tool.record.role !== "discovery") documentOf(tool, RANKING);
      yield;
    }
}

function indexOf(snapshot: Snapshot): SearchIndex {
  const known = indexes.get(snapshot);
  if (known) return known;
  const { tools, parts } = snapshot.searchable;
  const index = new SearchIndex(tools.rows, parts);
  indexes.set(snapshot, index);
  return index;
}
