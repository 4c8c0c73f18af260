import { roundBigInts } from "../../core/json/exact-json.ts";
import { isJsonObject, objectMember, type JsonObject } from "../../core/json/json.ts";
import type { Vendor } from "../vendor.ts";
import { toGoogleSchema } from "./google-schema.ts";
import { followRef } from "./refs.ts";

/** Members that identify a schema and do not restrict the arguments. */
const IDENTITY = ["$schema", "$id", "$comment"];
/** Keywords that no vendor accepts at the top level, which must be a plain object schema. */
const BRANCHES = ["anyOf", "oneOf", "allOf"] as const;
const CONDITIONS = ["not", "if", "then", "else", "dependentSchemas", "enum", "const"];

/**
 * Adapts the schema of a tool's arguments to a vendor. Unsupported keywords are removed, which widens the schema and
 * never narrows it: the hub validates with the original schema.
 */
export function rewriteSchema(schema: JsonObject, vendor: Vendor): JsonObject {
  // The vendors' clients serialise schemas with `JSON.stringify`, which rejects a BigInt.
  const top = roundBigInts(plainTop(schema)) as JsonObject;
  return vendor === "google" ? toGoogleSchema(top) : top;
}

/**
 * Returns a single object schema for the top level: follows a reference and merges alternatives. Nested schemas are
 * unchanged.
 */
function plainTop(schema: JsonObject): JsonObject {
  const root = without(
    typeof schema["$ref"] === "string" ? { ...schema, ...followRef(schema, schema), $ref: undefined } : schema,
    IDENTITY,
  );
  const joined = BRANCHES.some((key) => Array.isArray(root[key])) ? joinBranches(root) : root;
  return {
    ...without(joined, [...BRANCHES, ...CONDITIONS]),
    type: "object",
    properties: objectMember(joined, "properties") ?? {},
  };
}

/**
 * Merges the properties of the alternatives; a property is required if all of them require it, or with `allOf` if any
 * does.
 */
function joinBranches(root: JsonObject): JsonObject {
  const properties: JsonObject = { ...objectMember(root, "properties") };
  const required = new Set(textsOf(root["required"]));
  for (const key of BRANCHES) {
    const branches = (Array.isArray(root[key]) ? root[key] : [])
      .filter(isJsonObject)
      .map((branch) => followRef(branch, root));
    for (const branch of branches)
      for (const [name, value] of Object.entries(objectMember(branch, "properties") ?? {})) properties[name] ??= value;
    const [first, ...others] = branches.map((branch) => textsOf(branch["required"]));
    const shared = (first ?? []).filter((name) => others.every((names) => names.includes(name)));
    for (const name of key === "allOf" ? branches.flatMap((branch) => textsOf(branch["required"])) : shared)
      required.add(name);
  }
  return {
    ...root,
    properties,
    ...(required.size > 0 ? { required: [...required] } : {}),
    additionalProperties: undefined,
  };
}

function textsOf(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((one) => typeof one === "string") : [];
}

function without(schema: JsonObject, keys: readonly string[]): JsonObject {
  return Object.fromEntries(
    Object.entries(schema).filter(([key, value]) => value !== undefined && !keys.includes(key)),
  );
}
