import { stringifyExact } from "../core/json/exact-json.ts";
import { isJsonObject, type JsonObject } from "../core/json/json.ts";
import { localTarget } from "./local-target.ts";
import { firstChars } from "../core/text/truncate.ts";

const MAX_VALUES = 20;
const MAX_DEPTH = 3;
/**
 * Maximum number of branches that are inspected. It is needed because each branch may refer to a schema with further
 * branches.
 */
const MAX_BRANCHES = 40;

/**
 * Describes a schema briefly for an error message to a model: `a string`, `one of "c", "f"`, `an array of integer`.
 */
export function describeSchema(schema: unknown, root: JsonObject, depth = 0): string {
  if (schema === true || !isJsonObject(schema)) return schema === false ? "nothing" : "any value";
  if (depth > MAX_DEPTH) return "a value";
  if (typeof schema["$ref"] === "string") {
    const target = localTarget(schema["$ref"], root);
    return target ? describeSchema(target, root, depth + 1) : "a value";
  }
  if (Array.isArray(schema["enum"])) return `one of ${listValues(schema["enum"])}`;
  if ("const" in schema) return listValues([schema["const"]]);
  const branches = [schema["anyOf"], schema["oneOf"]].find((one) => Array.isArray(one));
  if (Array.isArray(branches))
    return joinChoices(branches.slice(0, MAX_BRANCHES).map((branch) => describeSchema(branch, root, depth + 1)));
  return describeTypes(schema, root, depth);
}

function describeTypes(schema: JsonObject, root: JsonObject, depth: number): string {
  const types: readonly unknown[] = Array.isArray(schema["type"]) ? schema["type"] : [schema["type"]];
  const describe = (type: unknown): string =>
    type === "array" && isJsonObject(schema["items"])
      ? `an array, each item ${describeSchema(schema["items"], root, depth + 1)}`
      : describeType(type, schema);
  return joinChoices(types.slice(0, MAX_BRANCHES).map(describe));
}

function describeType(type: unknown, schema: JsonObject): string {
  switch (type) {
    case "string":
      return typeof schema["format"] === "string" ? `a string (${firstChars(schema["format"], 40)})` : "a string";
    case "integer":
      return "an integer";
    case "number":
    case "boolean":
      return `a ${type}`;
    case "null":
      return "null";
    case "array":
      return "an array";
    case "object":
      return describeObject(schema);
    default:
      return isJsonObject(schema["properties"]) ? describeObject(schema) : "a value";
  }
}

function describeObject(schema: JsonObject): string {
  const names = isJsonObject(schema["properties"]) ? Object.keys(schema["properties"]) : [];
  if (names.length === 0) return "an object";
  return `an object with ${names.slice(0, MAX_VALUES).join(", ")}${names.length > MAX_VALUES ? ", …" : ""}`;
}

function joinChoices(choices: readonly string[]): string {
  return Array.from(new Set(choices)).slice(0, MAX_VALUES).join(" or ");
}

/** Lists values as JSON, each truncated to a readable length. */
export function listValues(values: readonly unknown[]): string {
  const shown = values.slice(0, MAX_VALUES).map((value) => firstChars(stringifyExact(value) ?? "undefined", 60));
  return shown.join(", ") + (values.length > MAX_VALUES ? ", …" : "");
}

/** Returns the JSON type of a value, with its article. */
export function describeReceived(value: unknown): string {
  if (value === undefined) return "nothing";
  if (value === null) return "null";
  if (Array.isArray(value)) return "an array";
  if (typeof value === "bigint") return "an integer";
  if (typeof value === "number") return Number.isInteger(value) ? "an integer" : "a number";
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}
