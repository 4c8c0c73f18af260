import { stringifyExact } from "../../core/json/exact-json.ts";
import { isJsonObject, type JsonObject, listMember, objectMember } from "../../core/json/json.ts";
import { followRef } from "./refs.ts";

/** Members that have the same meaning in Google's subset of OpenAPI schemas. */
const KEPT = [
  "title",
  "description",
  "minItems",
  "maxItems",
  "minimum",
  "maximum",
  "minLength",
  "maxLength",
  "pattern",
  "minProperties",
  "maxProperties",
];
const FORMATS: Readonly<Record<string, readonly string[]>> = {
  string: ["date-time", "enum"],
  number: ["float", "double"],
  integer: ["int32", "int64"],
};
/**
 * Maximum depth, because schemas can be recursive, and maximum number of nested schemas, because resolved references
 * multiply them.
 */
const MAX_DEPTH = 12;
const MAX_SCHEMAS = 2000;

/**
 * Converts a schema for Google: references resolved, unions as `anyOf`, `null` as `nullable`, constants as single-value
 * enums.
 */
export function toGoogleSchema(root: JsonObject): JsonObject {
  return convert(root, { root, depth: 0, budget: { left: MAX_SCHEMAS } });
}

interface SchemaPosition {
  readonly root: JsonObject;
  readonly depth: number;
  readonly budget: { left: number };
}

function below(place: SchemaPosition): SchemaPosition {
  return { ...place, depth: place.depth + 1 };
}

function convert(given: JsonObject, place: SchemaPosition): JsonObject {
  const { root, depth, budget } = place;
  budget.left -= 1;
  if (depth > MAX_DEPTH || budget.left < 0) return { type: "object" };
  const schema = mergeAll(followRef(given, root), root);
  const types = (Array.isArray(schema["type"]) ? schema["type"] : [schema["type"]]).filter(
    (type) => typeof type === "string",
  );
  const alternatives = [...alternativesOf(schema, "anyOf"), ...alternativesOf(schema, "oneOf")].map((one) =>
    followRef(one, root),
  );
  const real = alternatives.filter(({ type }) => type !== "null");
  const plain = types.filter((type) => type !== "null");
  const isNullable = types.length > plain.length || real.length < alternatives.length || schema["nullable"] === true;
  const notes = { ...kept(schema), ...(isNullable ? { nullable: true } : {}) };
  if (real.length === 1) return { ...convert(real[0]!, below(place)), ...notes };
  if (real.length > 1) return { ...notes, anyOf: real.map((one) => convert(one, below(place))) };
  if (plain.length > 1) return { ...notes, anyOf: plain.map((type) => ofType(schema, type, place)) };
  return { ...notes, ...ofType(schema, plain[0] ?? guessType(schema), place) };
}

function ofType(schema: JsonObject, type: string, place: SchemaPosition): JsonObject {
  if (type === "object") return ofObject(schema, place);
  if (type === "array") {
    const items = schema["items"] ?? (Array.isArray(schema["prefixItems"]) ? schema["prefixItems"][0] : undefined);
    return { type, items: isJsonObject(items) ? convert(items, below(place)) : { type: "string" } };
  }
  const format = String(schema["format"]);
  return { type, ...(FORMATS[type]?.includes(format) ? { format } : {}), ...enumOf(schema, type) };
}

function ofObject(schema: JsonObject, place: SchemaPosition): JsonObject {
  const properties = Object.entries(objectMember(schema, "properties") ?? {}).map(
    ([name, value]) => [name, convert(isJsonObject(value) ? value : {}, below(place))] as const,
  );
  // Google refuses an object without properties below the top level.
  if (properties.length === 0) return { type: "object" };
  const names = new Set(properties.map(([name]) => name));
  const required = Array.isArray(schema["required"])
    ? schema["required"].filter((name) => typeof name === "string" && names.has(name))
    : [];
  return { type: "object", properties: Object.fromEntries(properties), ...(required.length > 0 ? { required } : {}) };
}

// Google allows enums of strings only; other values are added to the description.
function enumOf(schema: JsonObject, type: string): JsonObject {
  const values =
    "const" in schema
      ? [schema["const"]]
      : Array.isArray(schema["enum"])
        ? schema["enum"].filter((value) => value !== null)
        : [];
  if (values.length === 0) return {};
  if (type === "string") return { enum: values.map(String) };
  const said = typeof schema["description"] === "string" ? `${schema["description"]} ` : "";
  return { description: `${said}One of: ${values.map((value) => stringifyExact(value)).join(", ")}.` };
}

function kept(schema: JsonObject): JsonObject {
  return Object.fromEntries(KEPT.filter((key) => schema[key] !== undefined).map((key) => [key, schema[key]]));
}

function alternativesOf(schema: JsonObject, key: string): readonly JsonObject[] {
  return Array.isArray(schema[key]) ? schema[key].filter(isJsonObject) : [];
}

function mergeAll(schema: JsonObject, root: JsonObject): JsonObject {
  return alternativesOf(schema, "allOf").reduce<JsonObject>((whole, part) => {
    const { properties, required, ...rest } = followRef(part, root);
    const joined = { ...objectMember(whole, "properties"), ...(isJsonObject(properties) ? properties : {}) };
    const names = [...listMember(whole, "required"), ...(Array.isArray(required) ? required : [])];
    return {
      ...rest,
      ...whole,
      ...(Object.keys(joined).length > 0 ? { properties: joined } : {}),
      ...(names.length > 0 ? { required: [...new Set(names)] } : {}),
    };
  }, schema);
}

function guessType(schema: JsonObject): string {
  if (isJsonObject(schema["properties"])) return "object";
  if (schema["items"] !== undefined) return "array";
  const [value] = "const" in schema ? [schema["const"]] : listMember(schema, "enum");
  return typeof value === "number" || typeof value === "boolean" ? typeof value : "string";
}
