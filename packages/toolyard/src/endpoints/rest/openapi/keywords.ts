import { isJsonObject } from "../../../core/json/json.ts";

/** Keywords of draft 2020-12 with a schema as their value. */
export const ONE_SCHEMA: ReadonlySet<string> = new Set([
  "additionalProperties",
  "contains",
  "contentSchema",
  "else",
  "if",
  "items",
  "not",
  "propertyNames",
  "then",
  "unevaluatedItems",
  "unevaluatedProperties",
]);
/** Keywords with a list of schemas as their value. */
export const SCHEMA_LIST: ReadonlySet<string> = new Set(["allOf", "anyOf", "oneOf", "prefixItems"]);
/** Keywords with a map from names to schemas as their value. */
export const SCHEMA_MAP: ReadonlySet<string> = new Set([
  "$defs",
  "dependentSchemas",
  "patternProperties",
  "properties",
]);

/**
 * Keywords that give a schema its identity or refer to another schema. The OpenAPI document has one identity, so these
 * keywords are resolved and removed.
 */
export const IDENTITY: ReadonlySet<string> = new Set([
  "$anchor",
  "$dynamicAnchor",
  "$dynamicRef",
  "$id",
  "$recursiveAnchor",
  "$recursiveRef",
  "$ref",
  "$schema",
  "$vocabulary",
]);

const TYPES = new Set(["array", "boolean", "integer", "null", "number", "object", "string"]);
const isText = (value: unknown): boolean => typeof value === "string";
const isFlag = (value: unknown): boolean => typeof value === "boolean";
const isNumber = (value: unknown): value is number | bigint => typeof value === "number" || typeof value === "bigint";
const isCount = (value: unknown): boolean =>
  isNumber(value) && value >= 0 && (typeof value === "bigint" || Number.isInteger(value));
const isTextList = (value: unknown): boolean =>
  Array.isArray(value) && value.every(isText) && new Set(value).size === value.length;

/** Checks of keyword values. An invalid keyword is removed; the other keywords stay. */
const VALUES: Readonly<Record<string, (value: unknown) => boolean>> = {
  $comment: isText,
  contentEncoding: isText,
  contentMediaType: isText,
  dependentRequired: (value) => isJsonObject(value) && Object.values(value).every(isTextList),
  deprecated: isFlag,
  description: isText,
  enum: Array.isArray,
  examples: Array.isArray,
  exclusiveMaximum: isNumber,
  exclusiveMinimum: isNumber,
  format: isText,
  maxContains: isCount,
  maxItems: isCount,
  maxLength: isCount,
  maxProperties: isCount,
  maximum: isNumber,
  minContains: isCount,
  minItems: isCount,
  minLength: isCount,
  minProperties: isCount,
  minimum: isNumber,
  multipleOf: (value) => isNumber(value) && value > 0,
  pattern: isText,
  readOnly: isFlag,
  required: isTextList,
  title: isText,
  type: (value) =>
    isTextList(value)
      ? (value as readonly string[]).length > 0 && (value as readonly string[]).every((one) => TYPES.has(one))
      : typeof value === "string" && TYPES.has(value),
  uniqueItems: isFlag,
  writeOnly: isFlag,
};

/** Returns true if a keyword that holds no schema may stay unchanged. */
export function isUsable(keyword: string, value: unknown): boolean {
  const check = Object.hasOwn(VALUES, keyword) ? VALUES[keyword]! : () => true;
  return check(value) && isPlain(value, 0);
}

/**
 * Returns true if a value contains no identity keyword. Many programs treat each `$ref` as a reference, also in
 * examples and default values.
 */
function isPlain(value: unknown, depth: number): boolean {
  if (typeof value !== "object" || value === null) return true;
  if (depth > MAX_DEPTH) return false;
  if (Array.isArray(value)) return value.every((one) => isPlain(one, depth + 1));
  return Object.entries(value).every(([name, member]) => !IDENTITY.has(name) && isPlain(member, depth + 1));
}

const MAX_DEPTH = 100;
