import { isJsonObject, withMember, type JsonObject } from "../core/json/json.ts";
import type { ToolRecord } from "../core/sources/records.ts";

/**
 * A tool as a list shows it: the definition as its source gave it, unknown members too, with the rendered name, the
 * overriding description and an input schema that every client takes.
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

/** Members that the definition has keep their places in it. */
function named(definition: JsonObject, name: string): JsonObject {
  return "name" in definition ? withMember(definition, "name", name) : { name, ...definition };
}

/**
 * The definition's own schema where clients will take it, since what is shown may differ from what is checked; else the
 * record's. One tool whose schema is not of type object makes strict clients refuse the whole list.
 */
function listedSchema(record: ToolRecord): JsonObject {
  const own = record.definition["inputSchema"];
  if (isJsonObject(own) && own["type"] === "object") return own;
  const { inputSchema } = record;
  return inputSchema["type"] === "object" ? inputSchema : { type: "object", ...inputSchema };
}
