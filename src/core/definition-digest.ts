import { contentDigest } from "./digest.ts";
import { isJsonObject, type JsonObject } from "./json.ts";

/** Members that people and models judge a tool by. Icons and what is not known here may change as they like. */
const TELLING = ["name", "title", "description", "inputSchema", "outputSchema", "annotations"];

/**
 * The fingerprint of what a tool says of itself, whatever the order in which it is said and the era in which it is
 * read.
 */
export function definitionDigest(definition: JsonObject): string {
  return contentDigest(
    canonicalJson(
      TELLING.map(
        (member) => (member === "outputSchema" ? outputOfBothEras(definition[member]) : definition[member]) ?? null,
      ),
    ),
  );
}

// The legacy era has no structured content that is no object: there its schema is missing, or wrapped.
function outputOfBothEras(schema: unknown): unknown {
  if (!isJsonObject(schema) || schema["type"] !== "object") return undefined;
  const { properties, required } = schema;
  const isWrapper =
    isJsonObject(properties) &&
    Object.keys(properties).join() === "result" &&
    Array.isArray(required) &&
    required.join() === "result";
  const result = isWrapper ? properties["result"] : undefined;
  return isJsonObject(result) && result["type"] !== "object" ? undefined : schema;
}

function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, member: unknown) =>
    isJsonObject(member) ? Object.fromEntries(Object.entries(member).toSorted(([a], [b]) => (a < b ? -1 : 1))) : member,
  );
}

/** Tools that both lists have and that say something else of themselves in the second. */
export function changedTools(before: readonly JsonObject[], after: readonly JsonObject[]): string[] {
  const known = new Map(before.map((definition) => [definition["name"], definition]));
  return after
    .filter((definition) => {
      const old = known.get(definition["name"]);
      return old !== undefined && definitionDigest(old) !== definitionDigest(definition);
    })
    .map(({ name }) => String(name));
}
