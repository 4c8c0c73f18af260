import { isJsonObject, type JsonObject } from "../../core/json/json.ts";

/** Maximum number of references that are followed; deeper ones are ignored. */
const MAX_HOPS = 16;

/**
 * Returns the schema to which a `$ref` within the same document refers, or the schema itself without a reference.
 * Returns an empty schema if the target does not exist.
 */
export function followRef(schema: JsonObject, root: JsonObject): JsonObject {
  let current = schema;
  for (let hops = 0; typeof current["$ref"] === "string"; hops += 1) {
    const target = hops < MAX_HOPS ? lookUp(current["$ref"], root) : undefined;
    if (target === undefined) return {};
    const { $ref: _ref, ...own } = current;
    current = { ...target, ...own };
    if (target === root && hops > 0) return {};
  }
  return current;
}

function lookUp(ref: string, root: JsonObject): JsonObject | undefined {
  if (ref === "#") return root;
  if (!ref.startsWith("#/")) return undefined;
  let value: unknown = root;
  for (const step of ref.slice(2).split("/")) {
    const key = safeDecode(step).replaceAll("~1", "/").replaceAll("~0", "~");
    value =
      (isJsonObject(value) || Array.isArray(value)) && Object.hasOwn(value, key)
        ? (value as JsonObject)[key]
        : undefined;
  }
  return isJsonObject(value) ? value : undefined;
}

function safeDecode(step: string): string {
  try {
    return decodeURIComponent(step);
  } catch {
    return step;
  }
}
