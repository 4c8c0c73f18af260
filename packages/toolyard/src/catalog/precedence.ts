import { HUB_TOOL_NAMES, META_NAMESPACE } from "../core/names/own-names.ts";
import { factsOf, PROVIDER_KINDS } from "../core/sources/provider-kinds.ts";
import type { Source } from "../core/sources/records.ts";

/**
 * Rank of each kind of source. If several sources offer a name, the order of `PROVIDER_KINDS` decides, then the order
 * of the configuration.
 */
const KIND_ORDER: Readonly<Record<string, number>> = Object.fromEntries(
  Object.keys(PROVIDER_KINDS).map((kind, at) => [kind, at]),
);

/** Compares the precedence of two sources for a name, the highest first. */
export function comparePrecedence(a: Source, b: Source): number {
  return KIND_ORDER[a.kind]! - KIND_ORDER[b.kind]! || a.order - b.order || compareText(a.id, b.id);
}

/** Returns true if only the hub itself may use a rendered name (C29). */
export function isReservedName(name: string): boolean {
  return name.startsWith(META_PREFIX) || HUB_TOOL_NAMES.includes(name);
}

const META_PREFIX = `${META_NAMESPACE}.`;

export function mayUseReservedNames(source: Source): boolean {
  return factsOf(source.kind).isHub === true;
}

/** Compares texts by code units, so that the order is the same on every machine. */
export function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
