import { exactNumber, parseExact } from "../../core/json/exact-json.ts";
import { isJsonObject, type JsonObject, objectMember } from "../../core/json/json.ts";
import { localTarget } from "../../schema/local-target.ts";

/**
 * Returns arguments from a query, converted to the types of the tool's schema: `?days=3` is a number if the schema
 * requires one, a repeated name is a list, and an object is written as JSON. A value that cannot be converted stays
 * text, which the schema then refuses.
 */
export function queryArguments(query: URLSearchParams, schema: JsonObject): JsonObject {
  const properties = objectMember(schema, "properties") ?? {};
  const names = new Set(query.keys());
  const args = [...names]
    .filter((name) => Object.hasOwn(properties, name) || !RESERVED.has(name))
    .map((name): [string, unknown] => [
      name,
      argumentOf(query.getAll(name), Object.hasOwn(properties, name) ? properties[name] : undefined, schema),
    ]);
  return Object.fromEntries(args);
}

/** Query parameters that every path accepts besides the tool's own parameters. */
const RESERVED: ReadonlySet<string> = new Set(["tool_mode", "show_all"]);

function argumentOf(texts: readonly string[], schema: unknown, root: JsonObject): unknown {
  const types = typesOf(schema, root);
  const [first = ""] = texts;
  if (!types.has("array"))
    return texts.length === 1 ? scalarOf(first, types) : texts.map((text) => scalarOf(text, types));
  const list = texts.length === 1 ? parsed(first, Array.isArray) : undefined;
  if (list !== undefined) return list;
  if (texts.length === 1 && types.has("string")) return first;
  const items = follow(schema, root)?.["items"];
  return texts.map((text) => scalarOf(text, typesOf(items, root)));
}

function scalarOf(text: string, types: ReadonlySet<string>): unknown {
  // A value stays text if the schema allows text, because a postal code, for example, must not become a number.
  if (types.size === 0 || types.has("string")) return text;
  const number = types.has("number") || types.has("integer") ? numberOf(text) : undefined;
  if (number !== undefined) return number;
  const truth = types.has("boolean") ? truthOf(text) : undefined;
  if (truth !== undefined) return truth;
  if (types.has("null") && /^(null|)$/.test(text)) return null;
  return types.has("object") ? (parsed(text, isJsonObject) ?? text) : text;
}

function truthOf(text: string): boolean | undefined {
  if (/^(true|1|yes|on|)$/i.test(text)) return true;
  return /^(false|0|no|off)$/i.test(text) ? false : undefined;
}

function numberOf(text: string): number | bigint | undefined {
  return NUMBER.test(text) ? exactNumber(text) : undefined;
}

const NUMBER = /^-?(\d+(?:\.\d*)?|\.\d+)(e[+-]?\d+)?$/i;

function parsed(text: string, fits: (value: unknown) => boolean): unknown {
  try {
    const value: unknown = parseExact(text);
    return fits(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Returns the JSON types that a schema accepts; empty if it names none. */
export function typesOf(schema: unknown, root: JsonObject, depth = 0): ReadonlySet<string> {
  const own = follow(schema, root);
  if (!own || depth > MAX_DEPTH) return new Set();
  const { type } = own;
  if (typeof type === "string") return new Set([type]);
  if (Array.isArray(type)) return new Set(type.filter((one): one is string => typeof one === "string"));
  const values = Array.isArray(own["enum"]) ? own["enum"] : "const" in own ? [own["const"]] : [];
  if (values.length > 0) return new Set(values.map(typeOf));
  const branches = ["anyOf", "oneOf", "allOf"].flatMap((key): unknown[] => (Array.isArray(own[key]) ? own[key] : []));
  return new Set(branches.slice(0, MAX_BRANCHES).flatMap((branch) => [...typesOf(branch, root, depth + 1)]));
}

function follow(schema: unknown, root: JsonObject): JsonObject | undefined {
  let at = isJsonObject(schema) ? schema : undefined;
  for (let hops = 0; at && typeof at["$ref"] === "string"; hops += 1)
    at = hops < MAX_DEPTH ? localTarget(at["$ref"], root) : undefined;
  return at;
}

function typeOf(value: unknown): string {
  if (value === null) return "null";
  if (typeof value === "bigint") return "number";
  return Array.isArray(value) ? "array" : typeof value;
}

const MAX_DEPTH = 8;
const MAX_BRANCHES = 50;
