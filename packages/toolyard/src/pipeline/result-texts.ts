import { mayHoldTags, withoutTags } from "../core/text/hidden-text.ts";
import { isJsonObject, type JsonObject } from "../core/json/json.ts";

/**
 * Removes tag characters from all texts of a result, because they spell text that users do not see. Keeps those of
 * flags. Returns the same object, without copying, if there are none.
 */
export function withoutTagsIn<T extends object>(value: T): T {
  return holdsTags(value) ? (plain(value) as T) : value;
}

function holdsTags(value: unknown): boolean {
  if (typeof value === "string") return mayHoldTags(value);
  if (typeof value !== "object" || value === null) return false;
  if (Array.isArray(value)) {
    for (const item of value) if (holdsTags(item)) return true;
    return false;
  }
  const object = value as JsonObject;
  for (const key in object) if (mayHoldTags(key) || holdsTags(object[key])) return true;
  return false;
}

function plain(value: unknown): unknown {
  if (typeof value === "string") return withoutTags(value);
  if (Array.isArray(value)) return value.map(plain);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [withoutTags(key), plain(member)]));
}
