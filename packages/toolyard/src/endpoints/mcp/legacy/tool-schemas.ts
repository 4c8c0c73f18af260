import { isJsonObject, type JsonObject } from "../../../core/json/json.ts";

/**
 * Returns true if the root of a schema is an object. The legacy era requires that for `outputSchema` and
 * `structuredContent`; the modern era accepts any JSON.
 */
export function hasObjectRoot(schema: JsonObject): boolean {
  return schema["type"] === "object";
}

/**
 * Returns the schema of `{result: <value>}`. References within the document are adjusted to the new location. A schema
 * with a base URI (`$id`) keeps its references.
 */
export function wrapOutputSchema(schema: JsonObject): JsonObject {
  const dialect = typeof schema["$schema"] === "string" ? { $schema: schema["$schema"] } : {};
  return { ...dialect, type: "object", properties: { result: moveSchema(schema) }, required: ["result"] };
}

function moveSchema(schema: JsonObject): JsonObject {
  if (setsBase(schema)) return schema;
  return Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, moveKeyword(key, value)]));
}

function moveKeyword(key: string, value: unknown): unknown {
  if (REFERENCES.has(key)) return typeof value === "string" ? moveReference(value) : value;
  // Values under these keywords are data, in which `$ref` is an ordinary name.
  if (DATA.has(key)) return value;
  if (NAMED_SCHEMAS.has(key) && isJsonObject(value)) {
    return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, moveAny(member)]));
  }
  return moveAny(value);
}

function moveAny(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(moveAny);
  return isJsonObject(value) ? moveSchema(value) : value;
}

function moveReference(reference: string): string {
  if (reference === "#") return NEW_ROOT;
  return reference.startsWith("#/") ? `${NEW_ROOT}${reference.slice(1)}` : reference;
}

// Returns true if the schema has a base URI. In draft-07, `$id: "#name"` is an anchor and sets no base.
function setsBase(schema: JsonObject): boolean {
  const id = schema["$id"];
  return id !== undefined && !(typeof id === "string" && id.startsWith("#"));
}

const NEW_ROOT = "#/properties/result";
const REFERENCES: ReadonlySet<string> = new Set(["$ref", "$dynamicRef"]);
const DATA: ReadonlySet<string> = new Set(["const", "enum", "default", "examples"]);
const NAMED_SCHEMAS: ReadonlySet<string> = new Set([
  "properties",
  "patternProperties",
  "$defs",
  "definitions",
  "dependentSchemas",
  "dependencies",
]);

/**
 * Replaces the boolean schemas of properties by equivalent objects. The legacy era allows only objects there, and its
 * clients refuse a whole list because of one `true`.
 */
export function withObjectProperties(tool: JsonObject): JsonObject {
  let changed = tool;
  for (const member of ["inputSchema", "outputSchema"]) {
    const schema = tool[member];
    const properties = isJsonObject(schema) ? schema["properties"] : undefined;
    if (!isJsonObject(schema) || !isJsonObject(properties)) continue;
    const entries = Object.entries(properties);
    if (!entries.some(([, property]) => typeof property === "boolean")) continue;
    const objects = Object.fromEntries(entries.map(([name, property]) => [name, asObject(property)]));
    changed = { ...changed, [member]: { ...schema, properties: objects } };
  }
  return changed;
}

function asObject(property: unknown): unknown {
  if (typeof property !== "boolean") return property;
  return property ? {} : { not: {} };
}
