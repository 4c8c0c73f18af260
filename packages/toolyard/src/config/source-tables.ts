import { isJsonObject, type JsonObject } from "../core/json/json.ts";
import { valuesOf, type OptionSchema, type SourceTable } from "../core/options/option-schema.ts";
import type { ProviderKind } from "../core/sources/provider-kinds.ts";
import type { ConfigProblem } from "./check.ts";
import { valueAt } from "./edit/tree-path.ts";

/** A source that is unusable because of its configuration. All other sources continue without it. */
export interface UnusableSource {
  readonly id: string;
  readonly kind: ProviderKind;
  readonly reason: string;
}

/** An entry of a table of sources, with its name and position. */
interface SourceTableEntry {
  readonly name: string;
  /** Last step of the entry's path: the key in the table, or the index in the list. */
  readonly step: string;
  readonly value: unknown;
}

/** Returns the entries of a table or list of sources; empty for any other value. */
export function entriesOf(value: unknown, { nameOf }: SourceTable): readonly SourceTableEntry[] {
  if (Array.isArray(value))
    return value.map((entry: unknown, at) => ({ name: nameOf?.(entry) ?? "?", step: String(at), value: entry }));
  if (!isJsonObject(value)) return [];
  return Object.entries(value).map(([key, entry]) => ({ name: key, step: key, value: entry }));
}

/** Returns the schema of an entry of a table, or of a list of tables. */
export function entrySchema(schema: OptionSchema): OptionSchema | undefined {
  return schema.type === "array" ? schema.items : valuesOf(schema);
}

/** Merges a list of sources with a later layer. A source with the same name is replaced, the others stay. */
export function joinByName(base: unknown, over: unknown, { nameOf }: SourceTable): unknown {
  if (!Array.isArray(base) || !Array.isArray(over) || !nameOf) return over;
  const named = new Set(over.map(nameOf));
  return [...base.filter((entry) => !named.has(nameOf(entry))), ...over];
}

/**
 * Returns the members of a disabled entry that need no preparation: its numbers and booleans, and the members that
 * identify the source.
 */
export function switchedOff(entry: JsonObject, { identity }: SourceTable): JsonObject {
  const isPlain = (value: unknown) => typeof value !== "string" && !Array.isArray(value) && !isJsonObject(value);
  return Object.fromEntries(Object.entries(entry).filter(([key, value]) => isPlain(value) || identity.includes(key)));
}

/** Returns a problem for each source that has the name of an earlier source, in any table. */
export function sourcesNamedTwice(tree: JsonObject, schema: OptionSchema): readonly ConfigProblem[] {
  const seen = new Set<string>();
  return tablesOf(tree, schema).flatMap(({ path, value, table }) =>
    entriesOf(value, table).flatMap(({ name, step }) => {
      const isTwice = seen.has(name);
      seen.add(name);
      const message = `the name "${name}" is used by another server; rename one of the two`;
      return isTwice ? [{ path: [...path, step], message }] : [];
    }),
  );
}

/** A table or list of sources in a tree, and its path. */
export interface FoundTable {
  readonly path: readonly string[];
  readonly value: unknown;
  readonly table: SourceTable;
  /** True for a list of tables, whose entries have no keys. */
  readonly isList: boolean;
}

/** Returns every table of sources in the schema, with its value in the tree. */
export function tablesOf(value: unknown, schema: OptionSchema): readonly FoundTable[] {
  let places = placesIn.get(schema);
  if (!places) placesIn.set(schema, (places = tablePlaces(schema, [])));
  return places.map((place) => ({ ...place, value: valueAt(value, place.path) }));
}

type TablePlace = Omit<FoundTable, "value">;

/** Tables of sources by schema, because schemas are large and do not change. */
const placesIn = new WeakMap<OptionSchema, readonly TablePlace[]>();

function tablePlaces(schema: OptionSchema, path: readonly string[]): readonly TablePlace[] {
  const table = schema["~sources"];
  if (table) return [{ path, table, isList: schema.type === "array" }];
  const { properties } = schema;
  return properties
    ? Object.keys(properties).flatMap((key) => tablePlaces(properties[key]!, [...path, key]))
    : NO_PLACES;
}

const NO_PLACES: readonly TablePlace[] = [];
