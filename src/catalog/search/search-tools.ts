import type { View } from "../../core/hub-port.ts";
import type { SearchAnswer, SearchFilter } from "../../core/ports.ts";
import { permissionOf } from "../../core/rights.ts";
import { inSlices } from "../../core/slices.ts";
import type { Snapshot } from "../snapshot.ts";
import type { PreparedTool } from "../source-part.ts";
import type { SourcePart } from "../source-part.ts";
import { documentOf } from "./document.ts";
import { passesFilter } from "./filter.ts";
import type { Evidence } from "./likeness/blend.ts";
import type { EvidenceSource } from "./likeness/table-search.ts";
import { insteadOf, MAX_NEAR } from "./instead.ts";
import { RANKING } from "./ranking.ts";
import { SearchIndex } from "./search-index.ts";

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
export function searchTools(
  snapshot: Snapshot,
  { query, view, limit, filter = {} }: ToolQuery,
  evidence?: Evidence,
): SearchAnswer {
  const { tools, separator } = snapshot.searchable;
  const index = indexOf(snapshot);
  const permission = permissionOf(view.principal.rights);
  const exact = tools.candidates(query.trim());
  const passes = passesFilter(filter, separator);
  const permits = (tool: PreparedTool): boolean => tools.permits(tool, permission);
  const found = (tool: PreparedTool): boolean => permits(tool) && passes(tool);
  const answer = index.search(query, { limit, exact, evidence, permits: found, why: filter.why });
  if (answer.total > 0) return answer;
  const isNarrowed = filter.server !== undefined || filter.readOnly === true;
  const elsewhere = isNarrowed ? index.search(query, { limit: MAX_NEAR, exact, evidence, permits }).hits : [];
  const permitted = tools.rows.filter(permits);
  return { ...answer, instead: insteadOf(query, filter, { permitted, elsewhere, separator }) };
}

/** The same with what tells beside words, where that is known in time. */
export async function searchWith(snapshot: Snapshot, asked: ToolQuery, source: EvidenceSource): Promise<SearchAnswer> {
  // A list of everything is by name.
  if (asked.query.trim() === "") return searchTools(snapshot, asked);
  return searchTools(snapshot, asked, await source.evidence(asked.query, indexOf(snapshot).tools));
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
