import { isJsonObject, type JsonObject } from "../core/json/json.ts";
import type { ToolRecord } from "../core/sources/records.ts";

/**
 * A tool as a list shows it: the definition as its source gave it, unknown members too, with the rendered name, the
 * overriding description and an input schema that every client takes.
 */
export function toolEntry(record: ToolRecord, name: string): JsonObject {
  const { definition } = record;
  const schema = listedSchema(record);
  // Members that the definition has keep their places in it.
  const entry: JsonObject = "name" in definition ? { ...definition, name } : { name, ...definition };
  if (record.description !== (definition["description"] ?? "")) entry["description"] = record.description;
  if (schema !== definition["inputSchema"]) entry["inputSchema"] = schema;
  if (record.outputSchema !== undefined && definition["outputSchema"] === undefined)
    entry["outputSchema"] = record.outputSchema;
  return entry;
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
