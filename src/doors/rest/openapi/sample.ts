import { isJsonObject, type JsonObject } from "../../../core/json.ts";
import { localTarget } from "../../../schema/local-target.ts";

const MAX_DEPTH = 4;
const MAX_MEMBERS = 12;

/**
 * A value such as a schema wants it, for a first try: its own example or default where it has one, and of an object
 * what is required.
 */
export function sampleOf(schema: unknown, root: JsonObject, depth = 0): unknown {
  const own =
    isJsonObject(schema) && typeof schema["$ref"] === "string" ? (localTarget(schema["$ref"], root) ?? {}) : schema;
  if (!isJsonObject(own) || depth > MAX_DEPTH) return "…";
  for (const key of ["examples", "enum"]) if (Array.isArray(own[key]) && own[key].length > 0) return own[key][0];
  for (const key of ["default", "const", "example"]) if (own[key] !== undefined) return own[key];
  const [branch] = ["anyOf", "oneOf", "allOf"].flatMap((key): unknown[] => (Array.isArray(own[key]) ? own[key] : []));
  if (own["type"] === undefined && branch !== undefined) return sampleOf(branch, root, depth + 1);
  const type = Array.isArray(own["type"]) ? own["type"][0] : own["type"];
  return sampleOfType(type, own, root, depth);
}

function sampleOfType(type: unknown, schema: JsonObject, root: JsonObject, depth: number): unknown {
  const least = typeof schema["minimum"] === "number" ? schema["minimum"] : 1;
  switch (type) {
    case "string":
      return "text";
    case "integer":
      return Math.ceil(least);
    case "number":
      return least;
    case "boolean":
      return true;
    case "null":
      return null;
    case "array":
      return schema["items"] === undefined ? [] : [sampleOf(schema["items"], root, depth + 1)];
    default:
      return sampleObject(schema, root, depth);
  }
}

function sampleObject(schema: JsonObject, root: JsonObject, depth: number): JsonObject {
  const properties = isJsonObject(schema["properties"]) ? schema["properties"] : {};
  const required = Array.isArray(schema["required"])
    ? schema["required"].map(String).filter((name) => Object.hasOwn(properties, name))
    : [];
  return Object.fromEntries(
    required.slice(0, MAX_MEMBERS).map((name) => [name, sampleOf(properties[name], root, depth + 1)]),
  );
}
