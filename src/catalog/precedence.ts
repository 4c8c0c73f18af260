import { factsOf, PROVIDER_KINDS } from "../core/sources/provider-kinds.ts";
import type { Source } from "../core/sources/records.ts";

/** Who gets a name that several sources offer: kinds in the order of their table, then that of the configuration. */
const KIND_ORDER: Readonly<Record<string, number>> = Object.fromEntries(
  Object.keys(PROVIDER_KINDS).map((kind, at) => [kind, at]),
);

/** Sorts sources so that the one with the better right to a name comes first. */
export function comparePrecedence(a: Source, b: Source): number {
  return KIND_ORDER[a.kind]! - KIND_ORDER[b.kind]! || a.order - b.order || compareText(a.id, b.id);
}

/** Names that only the hub itself may use (C29), as globs over rendered names. */
export const RESERVED_NAMES: readonly string[] = ["tool_search", "execute_tool", "execute_code", "meta.*"];

export function mayUseReservedNames(source: Source): boolean {
  return factsOf(source.kind).isHub === true;
}

/** By code units, so that the order is the same on every machine. */
export function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
