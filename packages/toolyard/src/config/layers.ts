import { isJsonObject, type JsonObject } from "../core/json/json.ts";
import type { OptionSchema } from "../core/options/option-schema.ts";
import { nearest } from "../core/text/suggest.ts";
import { fromText } from "./prepare.ts";
import { joinByName } from "./source-tables.ts";

/** A layer of configuration values, with its name for reports. */
export interface Layer {
  /** Origin of the values: `default`, a file's path, `env TOOLYARD_SERVER_PORT`, `flag`. */
  readonly origin: string;
  readonly tree: JsonObject;
}

export interface MergedLayers {
  readonly tree: JsonObject;
  /** Origin of each leaf by path (`server.port`). */
  readonly origins: ReadonlyMap<string, string>;
}

/**
 * Merges layers key by key; later layers override earlier ones. Lists are replaced, except lists of sources, which are
 * merged by name.
 */
export function mergeLayers(layers: readonly Layer[], schema: OptionSchema): MergedLayers {
  const origins = new Map<string, string>();
  let tree: JsonObject = {};
  for (const layer of layers) tree = mergeInto(tree, layer.tree, { schema, path: [], origin: layer.origin, origins });
  return { tree, origins };
}

interface LayerPosition {
  /** Schema of this position. Absent: the position is unknown, and the check will report it. */
  readonly schema: OptionSchema | undefined;
  readonly path: readonly string[];
  readonly origin: string;
  readonly origins: Map<string, string>;
}

function mergeInto(base: JsonObject, over: JsonObject, place: LayerPosition): JsonObject {
  const merged: JsonObject = { ...base };
  const known = place.schema?.properties ?? {};
  for (const [key, value] of Object.entries(over)) {
    const path = [...place.path, key];
    const schema = Object.hasOwn(known, key) ? known[key] : undefined;
    if (isJsonObject(value)) {
      merged[key] = mergeInto(isJsonObject(base[key]) ? base[key] : {}, value, { ...place, schema, path });
    } else {
      const table = schema?.["~sources"];
      merged[key] = table ? joinByName(base[key], value, table) : value;
      place.origins.set(path.join("."), place.origin);
    }
  }
  return merged;
}

const PREFIX = "TOOLYARD_";
/** Variables with the prefix `TOOLYARD_` that are not options of the configuration. */
const NOT_OPTIONS: ReadonlySet<string> = new Set([
  "TOOLYARD_HOME",
  "TOOLYARD_CONFIG",
  "TOOLYARD_TOKEN",
  "TOOLYARD_URL",
  "TOOLYARD_VAULT_KEY",
  "TOOLYARD_EXTRAS",
  "TOOLYARD_DEBUG",
  // Toolyard sets these for processes that it starts, which may start Toolyard themselves.
  "TOOLYARD_CHILD_ID",
  "TOOLYARD_DESCRIPTORS",
  "TOOLYARD_LIBRARIES",
  "TOOLYARD_MODELS",
]);

/**
 * Returns the variables `TOOLYARD_<SECTION>_<KEY>` as layers, one per variable, so that each value keeps its origin.
 */
export function environmentLayers(
  variables: Readonly<Record<string, string | undefined>>,
  schema: OptionSchema,
): { layers: readonly Layer[]; warnings: readonly string[] } {
  const layers: Layer[] = [];
  const warnings: string[] = [];
  for (const [name, text] of Object.entries(variables)) {
    if (!name.startsWith(PREFIX) || text === undefined || NOT_OPTIONS.has(name)) continue;
    const option = optionOf(name, schema);
    if (option) {
      layers.push({
        origin: `env ${name}`,
        tree: { [option.section]: { [option.key]: fromText(text, option.schema) } },
      });
      continue;
    }
    const [near] = nearest(name, variableNames(schema), 1);
    warnings.push(`the variable ${name} is not an option${near === undefined ? "" : `; did you mean ${near}?`}`);
  }
  return { layers, warnings };
}

interface NamedOption {
  readonly section: string;
  readonly key: string;
  readonly schema: OptionSchema;
}

/** Returns the option of a variable. Only the sections with which its name begins are searched. */
function optionOf(name: string, schema: OptionSchema): NamedOption | undefined {
  let found: NamedOption | undefined;
  for (const [section, part] of Object.entries(schema.properties ?? {})) {
    const start = startOf(section);
    if (!name.startsWith(start)) continue;
    const key = Object.keys(part.properties ?? {}).find((one) => name === start + one.toUpperCase());
    const option = key === undefined ? undefined : part.properties![key]!;
    if (key !== undefined && option && !isTable(option)) found = { section, key, schema: option };
  }
  return found;
}

function variableNames(schema: OptionSchema): string[] {
  return Object.entries(schema.properties ?? {}).flatMap(([section, { properties = {} }]) =>
    Object.keys(properties)
      .filter((key) => !isTable(properties[key]!))
      .map((key) => startOf(section) + key.toUpperCase()),
  );
}

function startOf(section: string): string {
  return `${PREFIX}${section.toUpperCase()}_`;
}

function isTable({ type, items }: OptionSchema): boolean {
  return type === "object" || (type === "array" && items?.type === "object");
}
