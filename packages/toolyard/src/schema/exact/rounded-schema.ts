import { roundBigInts } from "../../core/json/exact-json.ts";
import { isJsonObject, type JsonObject } from "../../core/json/json.ts";
import { NUMERIC_KEYWORDS } from "./exact-keywords.ts";
import { setMember } from "./set-member.ts";

/**
 * Returns a schema that Ajv can compile: each `bigint` is replaced with the nearest double, except in the keywords that
 * `exact-keywords.ts` compares exactly. Returns the same object for a schema without a `bigint`.
 */
export function roundSchema(schema: JsonObject, keepsNumericKeywords: boolean): JsonObject {
  return (keepsNumericKeywords ? roundOthers(schema) : roundBigInts(schema)) as JsonObject;
}

function roundOthers(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(roundOthers);
  if (!isJsonObject(value)) return typeof value === "bigint" ? Number(value) : value;
  const copy: JsonObject = {};
  for (const [name, member] of Object.entries(value))
    setMember(copy, name, NUMERIC_KEYWORDS.has(name) ? member : roundOthers(member));
  return copy;
}
