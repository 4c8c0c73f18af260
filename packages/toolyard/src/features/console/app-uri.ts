// The page of the console imports this file too, so it imports nothing of Node.
import { objectMember, type JsonObject } from "../../core/json/json.ts";

/** Returns the address of the page that a tool declares, in the current form or in the earlier one. */
export function appUri(definition: Readonly<JsonObject>): string | undefined {
  const meta = objectMember(definition, "_meta") ?? {};
  const uri = objectMember(meta, "ui")?.["resourceUri"] ?? meta["ui/resourceUri"];
  return typeof uri === "string" && uri.startsWith("ui://") ? uri : undefined;
}
