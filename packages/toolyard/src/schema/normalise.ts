import { isJsonObject, type JsonObject } from "../core/json/json.ts";
import { firstChars } from "../core/text/truncate.ts";

export interface NormalisedSchema {
  readonly schema: JsonObject;
  /** Description of the repair, for the tool's author. */
  readonly warning?: string;
}

/**
 * Converts the author's input schema to an object schema, the only kind that the protocol and models accept. `{}` and
 * undefined become `{"type": "object"}`; a bare map of properties is wrapped, with a warning. A valid object schema is
 * returned as the same object.
 */
export function normaliseInputSchema(raw: unknown): NormalisedSchema {
  if (isEmptySchema(raw)) return { schema: { type: "object" } };
  if (!isJsonObject(raw))
    return {
      schema: { type: "object" },
      warning: `The input schema must be an object, got ${kindOf(raw)}; any arguments are accepted.`,
    };
  if (raw["type"] === "object") return { schema: raw };
  if (isPropertyMap(raw)) return wrap(raw);
  if (raw["type"] === undefined) return { schema: { type: "object", ...raw } };
  if (raw["type"] === null) return { schema: { ...raw, type: "object" } };
  if (Array.isArray(raw["type"]) && raw["type"].includes("object")) return { schema: { ...raw, type: "object" } };
  return {
    schema: { type: "object" },
    warning:
      `The input schema must be of type "object", got ${firstChars(JSON.stringify(raw["type"]), 80)}; ` +
      "any arguments are accepted.",
  };
}

/** Returns whether an input schema has no content. PHP writes an empty object as an empty list. */
export function isEmptySchema(raw: unknown): boolean {
  return raw === undefined || raw === null || raw === true || (Array.isArray(raw) && raw.length === 0);
}

/**
 * Returns whether the schema's `type` allows an object. If `type` is itself an object, the schema is a bare map of
 * properties with a property named `type`.
 */
export function allowsObject({ type }: JsonObject): boolean {
  if (Array.isArray(type)) return type.includes("object");
  return typeof type !== "string" || type === "object";
}

function kindOf(value: unknown): string {
  return Array.isArray(value) ? "an array" : `a ${typeof value}`;
}

/**
 * Keywords that hold schemas and apply to objects. A schema of only these keywords describes an object, unless it
 * states another type.
 */
const APPLIES_TO_OBJECTS = new Set([
  "properties",
  "not",
  "if",
  "then",
  "else",
  "additionalProperties",
  "propertyNames",
  "unevaluatedProperties",
]);

// A property map such as `{city: {type: "string"}}` has only schemas as values. `{properties: {city: …}}` is a schema,
// because `properties` is a keyword. In `{properties: {type: "string"}}`, however, `properties` is the name of a
// property.
function isPropertyMap(raw: JsonObject): boolean {
  const names = Object.keys(raw);
  const isKeyword = (name: string): boolean =>
    APPLIES_TO_OBJECTS.has(name) && !(name === "properties" && hasTypeName(raw[name]));
  if (names.every(isKeyword)) return false;
  return names.every((name) => !name.startsWith("$") && isSchemaLike(raw[name]));
}

function hasTypeName(value: unknown): boolean {
  return isJsonObject(value) && typeof value["type"] === "string";
}

const TELLING = [
  "type",
  "enum",
  "const",
  "anyOf",
  "oneOf",
  "allOf",
  "$ref",
  "properties",
  "items",
  "description",
  "title",
  "default",
  "format",
  "examples",
  "required",
];

function isSchemaLike(value: unknown): boolean {
  if (!isJsonObject(value)) return false;
  const { type } = value;
  if (type !== undefined && typeof type !== "string" && !Array.isArray(type)) return false;
  const names = Object.keys(value);
  // The values of most keywords are not objects. If the value of such a key is an object, the key is the name of a
  // property.
  return (
    names.length === 0 ||
    TELLING.some(
      (key) =>
        key in value && (key === "properties" || key === "items" || key === "default" || !isJsonObject(value[key])),
    )
  );
}

function wrap(raw: JsonObject): NormalisedSchema {
  const required = Object.keys(raw).filter((name) => (raw[name] as JsonObject)["required"] === true);
  const properties = Object.fromEntries(
    Object.entries(raw).map(([name, property]) => [name, withoutRequiredFlag(property as JsonObject)]),
  );
  return {
    schema: { type: "object", properties, ...(required.length > 0 ? { required } : {}) },
    warning:
      'The input schema is a bare map of parameters; it was wrapped into {"type": "object", "properties": …}. ' +
      "Write it that way.",
  };
}

// Removes the flag `required` of draft-03, which marked each parameter in its own schema. Later drafts list required
// parameters next to the properties.
function withoutRequiredFlag(property: JsonObject): JsonObject {
  if (typeof property["required"] !== "boolean") return property;
  const { required: _, ...rest } = property;
  return rest;
}
