import { isJsonObject, withMember, type JsonObject } from "../core/json/json.ts";
import type { ToolRecord } from "../core/sources/records.ts";

/**
 * Returns a tool in list form: the source's definition with unknown members, the rendered name, the configured
 * description, and an input schema that every client accepts.
 */
export function toolEntry(record: ToolRecord, name: string): JsonObject {
  const { definition, description, outputSchema } = record;
  const schema = listedSchema(record);
  let entry = definition["name"] === name ? definition : named(definition, name);
  if (description !== (definition["description"] ?? "")) entry = withMember(entry, "description", description);
  if (schema !== definition["inputSchema"]) entry = withMember(entry, "inputSchema", schema);
  if (outputSchema !== undefined && definition["outputSchema"] === undefined)
    entry = withMember(entry, "outputSchema", outputSchema);
  return entry;
}

/** Keeps the order of the definition's members. */
function named(definition: JsonObject, name: string): JsonObject {
  return "name" in definition ? withMember(definition, "name", name) : { name, ...definition };
}

/**
 * Returns the definition's own schema if clients accept it. The hub may validate with a different schema. Otherwise
 * returns the record's schema. Strict clients refuse a whole list because of one schema that is not of type object.
 */
function listedSchema(record: ToolRecord): JsonObject {
  const own = record.definition["inputSchema"];
  if (isJsonObject(own) && own["type"] === "object") return own;
  const { inputSchema } = record;
  return inputSchema["type"] === "object" ? inputSchema : { type: "object", ...inputSchema };
}
