import { isJsonObject, objectMember, type JsonObject } from "../core/json.ts";
import type { ToolRecord } from "../core/records.ts";

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

/** Replaces the URI of a tool's user interface where the hub shows that resource under another one. */
export function withUiResource(entry: JsonObject, rewrites: ReadonlyMap<string, string>): JsonObject {
  const meta = objectMember(entry, "_meta");
  if (!meta) return entry;
  const ui = objectMember(meta, "ui");
  const nested = rewritten(ui?.["resourceUri"], rewrites);
  const flat = rewritten(meta[FLAT_UI_KEY], rewrites);
  if (nested === undefined && flat === undefined) return entry;
  const newUi = nested === undefined ? {} : { ui: { ...ui, resourceUri: nested } };
  return { ...entry, _meta: { ...meta, ...newUi, ...(flat === undefined ? {} : { [FLAT_UI_KEY]: flat }) } };
}

/** Whether the tool names this URI as its user interface. */
export function hasUiResource({ definition }: ToolRecord, uri: string): boolean {
  const meta = objectMember(definition, "_meta");
  return meta !== undefined && (objectMember(meta, "ui")?.["resourceUri"] === uri || meta[FLAT_UI_KEY] === uri);
}

/** The older spelling of `ui.resourceUri`. */
const FLAT_UI_KEY = "ui/resourceUri";

function rewritten(uri: unknown, rewrites: ReadonlyMap<string, string>): string | undefined {
  return typeof uri === "string" ? rewrites.get(uri) : undefined;
}
