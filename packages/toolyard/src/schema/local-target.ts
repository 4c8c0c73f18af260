import { isJsonObject, type JsonObject } from "../core/json/json.ts";

/** Returns the subschema that a reference such as `#/a/b` names, or undefined. */
export function localTarget(reference: string, root: JsonObject): JsonObject | undefined {
  if (reference === "#") return root;
  if (!reference.startsWith("#/")) return undefined;
  let at: unknown = root;
  for (const step of reference.slice(2).split("/")) {
    if (typeof at !== "object" || at === null) return undefined;
    at = (at as JsonObject)[unescapeStep(step)];
  }
  return isJsonObject(at) ? at : undefined;
}

function unescapeStep(step: string): string {
  const text = step.replaceAll("~1", "/").replaceAll("~0", "~");
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
