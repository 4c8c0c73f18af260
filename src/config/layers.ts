import { isJsonObject, type JsonObject } from "../core/json.ts";
import type { OptionSchema } from "../core/option-schema.ts";
import { nearest } from "../core/suggest.ts";
import { fromText } from "./prepare.ts";

/** One layer of configuration and what it is called when somebody asks where a value came from. */
export interface Layer {
  /** `default`, a file's path, `env TOOLYARD_SERVER_PORT`, `flag`. */
  readonly origin: string;
  readonly tree: JsonObject;
}

export interface MergedLayers {
  readonly tree: JsonObject;
  /** Path (`server.port`) to origin, for every leaf. */
  readonly origins: ReadonlyMap<string, string>;
}

/** Later layers win key by key. Lists are replaced, save `remote_servers`, whose entries are joined by name. */
export function mergeLayers(layers: readonly Layer[]): MergedLayers {
  const origins = new Map<string, string>();
  let tree: JsonObject = {};
  for (const layer of layers) tree = mergeInto(tree, layer.tree, layer.origin, [], origins);
  return { tree, origins };
}

function mergeInto(
  base: JsonObject,
  over: JsonObject,
  origin: string,
  path: readonly string[],
  origins: Map<string, string>,
): JsonObject {
  const merged: JsonObject = { ...base };
  for (const [key, value] of Object.entries(over)) {
    const at = [...path, key];
    if (isJsonObject(value)) {
      merged[key] = mergeInto(isJsonObject(base[key]) ? base[key] : {}, value, origin, at, origins);
    } else {
      merged[key] = key === "remote_servers" ? joinByName(base[key], value) : value;
      origins.set(at.join("."), origin);
    }
  }
  return merged;
}

function joinByName(base: unknown, over: unknown): unknown {
  if (!Array.isArray(base) || !Array.isArray(over)) return over;
  const named = new Set(over.map(remoteName));
  return [...base.filter((entry) => !named.has(remoteName(entry))), ...over];
}

/** What a remote server is called: its alias, else its namespace, else its host. */
export function remoteName(entry: unknown): string {
  if (!isJsonObject(entry)) return "?";
  const name = [entry["alias"], entry["namespace"], entry["host"]].find((one) => typeof one === "string" && one !== "");
  if (typeof name === "string") return name;
  return typeof entry["url"] === "string" && URL.canParse(entry["url"]) ? new URL(entry["url"]).hostname : "?";
}

const PREFIX = "TOOLYARD_";
/** Variables with a meaning of their own. */
const NOT_OPTIONS = new Set(["TOOLYARD_HOME", "TOOLYARD_CONFIG", "TOOLYARD_TOKEN", "TOOLYARD_URL"]);

/** `TOOLYARD_<SECTION>_<KEY>` as layers, one a variable, so that each value keeps its own origin. */
export function environmentLayers(
  variables: Readonly<Record<string, string | undefined>>,
  schema: OptionSchema,
): { layers: readonly Layer[]; warnings: readonly string[] } {
  const options = variableNames(schema);
  const layers: Layer[] = [];
  const warnings: string[] = [];
  for (const [name, text] of Object.entries(variables)) {
    if (!name.startsWith(PREFIX) || text === undefined || NOT_OPTIONS.has(name)) continue;
    const option = options.get(name);
    if (option) {
      layers.push({
        origin: `env ${name}`,
        tree: { [option.section]: { [option.key]: fromText(text, option.schema) } },
      });
      continue;
    }
    const [near] = nearest(name, [...options.keys()], 1);
    warnings.push(`the variable ${name} names no option${near === undefined ? "" : `; did you mean ${near}?`}`);
  }
  return { layers, warnings };
}

function variableNames(schema: OptionSchema): Map<string, { section: string; key: string; schema: OptionSchema }> {
  const names = new Map<string, { section: string; key: string; schema: OptionSchema }>();
  for (const [section, part] of Object.entries(schema.properties ?? {})) {
    for (const [key, option] of Object.entries(part.properties ?? {})) {
      const isTable = option.type === "object" || (option.type === "array" && option.items?.type === "object");
      if (!isTable) names.set(`${PREFIX}${section}_${key}`.toUpperCase(), { section, key, schema: option });
    }
  }
  return names;
}
