import { objectMember, type JsonObject } from "../json/json.ts";
import type { ToolRecord } from "../sources/records.ts";

/**
 * Replaces the URI of a user interface, in a tool or in a result, if the hub shows that resource under another URI.
 */
export function withUiResource(entry: JsonObject, shownUri: (uri: string) => string): JsonObject {
  const meta = objectMember(entry, "_meta");
  if (!meta) return entry;
  const ui = objectMember(meta, "ui");
  const nested = rewritten(ui?.["resourceUri"], shownUri);
  const flat = rewritten(meta[FLAT_UI_KEY], shownUri);
  if (nested === undefined && flat === undefined) return entry;
  const newUi = nested === undefined ? {} : { ui: { ...ui, resourceUri: nested } };
  return { ...entry, _meta: { ...meta, ...newUi, ...(flat === undefined ? {} : { [FLAT_UI_KEY]: flat }) } };
}

/** Returns the URIs of a tool's user interface. */
export function uiResourcesOf({ definition }: ToolRecord): readonly string[] {
  const meta = objectMember(definition, "_meta");
  if (!meta) return [];
  const uris = [objectMember(meta, "ui")?.["resourceUri"], meta[FLAT_UI_KEY]];
  return uris.filter((uri): uri is string => typeof uri === "string");
}

/** Older spelling of `ui.resourceUri`. */
const FLAT_UI_KEY = "ui/resourceUri";

function rewritten(uri: unknown, shownUri: (uri: string) => string): string | undefined {
  if (typeof uri !== "string") return undefined;
  const shown = shownUri(uri);
  return shown === uri ? undefined : shown;
}
