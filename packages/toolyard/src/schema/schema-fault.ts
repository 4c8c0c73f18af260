import { isJsonObject, type JsonObject } from "../core/json/json.ts";
import { localTarget } from "./local-target.ts";

/**
 * Returns the first fault that makes a JSON Schema uncompilable for common validators; undefined if there is none. A
 * client that compiles the output schemas of a listing loses the whole listing because of one such schema. Only reads
 * the schema, which takes microseconds; compiling it would take a thousand times as long.
 */
export function findSchemaFault(schema: JsonObject): string | undefined {
  const search = new FaultSearch(schema);
  search.subschema(schema, "");
  return search.fault;
}

const TYPES: ReadonlySet<unknown> = new Set(["null", "boolean", "object", "array", "number", "string", "integer"]);

type ValueCheck = (value: unknown) => boolean;

function isNumber(value: unknown): value is number {
  return typeof value === "number" && Number.isFinite(value);
}

function isText(value: unknown): boolean {
  return typeof value === "string";
}

function isTextList(value: unknown): boolean {
  return Array.isArray(value) && value.every(isText);
}

function isSchema(value: unknown): boolean {
  return isJsonObject(value) || typeof value === "boolean";
}

function isSchemaMap(value: unknown): value is JsonObject {
  return isJsonObject(value) && Object.values(value).every(isSchema);
}

const ONE = [
  "additionalItems",
  "additionalProperties",
  "unevaluatedItems",
  "unevaluatedProperties",
  "propertyNames",
  "contains",
  "not",
  "if",
  "then",
  "else",
];
const LISTS = ["prefixItems", "allOf", "anyOf", "oneOf"];
const MAPS = ["properties", "patternProperties", "dependentSchemas", "dependencies"];
const NUMBERS = ["maximum", "minimum", "exclusiveMaximum", "exclusiveMinimum"];
const COUNTS = ["Length", "Items", "Properties", "Contains"].flatMap((what) => [`max${what}`, `min${what}`]);
const TEXTS = ["format", "$id", "$anchor", "$dynamicAnchor", "$dynamicRef", "$recursiveRef"];

function each(keywords: readonly string[], check: ValueCheck): [string, ValueCheck][] {
  return keywords.map((keyword) => [keyword, check]);
}

/** Valid values of each keyword. */
const KEYWORDS: ReadonlyMap<string, ValueCheck> = new Map<string, ValueCheck>([
  ...each(ONE, isSchema),
  ...each(LISTS, (value) => Array.isArray(value) && value.length > 0 && value.every(isSchema)),
  ...each(NUMBERS, isNumber),
  ...each(COUNTS, (value) => isNumber(value) && value >= 0),
  ...each(TEXTS, isText),
  ...each(["uniqueItems", "nullable"], (value) => typeof value === "boolean"),
  ["type", (value) => [value].flat().every((one) => TYPES.has(one))],
  ["enum", (value) => Array.isArray(value) && value.length > 0],
  ["multipleOf", (value) => isNumber(value) && value > 0],
  ["pattern", isPattern],
  ["required", isTextList],
  ["dependentRequired", (value) => isJsonObject(value) && Object.values(value).every(isTextList)],
  [
    "dependencies",
    (value) => isJsonObject(value) && Object.values(value).every((one) => isSchema(one) || isTextList(one)),
  ],
  ["properties", isSchemaMap],
  ["dependentSchemas", isSchemaMap],
  ["patternProperties", (value) => isSchemaMap(value) && Object.keys(value).every(isPattern)],
  ["items", (value) => [value].flat().every(isSchema)],
  // Keyword of draft 4 only. Current validators reject it instead of ignoring it, so every value is a fault.
  ["id", () => false],
]);

function isPattern(value: unknown): boolean {
  if (typeof value !== "string") return false;
  try {
    return Boolean(new RegExp(value, "u"));
  } catch {
    return false;
  }
}

class FaultSearch {
  fault: string | undefined;
  readonly #root: JsonObject;
  readonly #seen = new Set<JsonObject>();
  #names: ReadonlySet<string> | undefined;

  constructor(root: JsonObject) {
    this.#root = root;
  }

  /** Visits each subschema once, so that cycles of references end. */
  subschema(schema: unknown, at: string): void {
    if (this.fault !== undefined || !isJsonObject(schema) || this.#seen.has(schema)) return;
    this.#seen.add(schema);
    const faulty = Object.keys(schema).find((keyword) => KEYWORDS.get(keyword)?.(schema[keyword]) === false);
    if (faulty !== undefined) return this.#note(`${at}.${faulty}`, "holds a value that no validator accepts");
    if (!fitsNullable(schema)) return this.#note(`${at}.nullable`, "contradicts `type`");
    this.#reference(schema["$ref"], at);
    for (const keyword of ONE) this.subschema(schema[keyword], `${at}.${keyword}`);
    for (const keyword of LISTS) this.#list(schema[keyword], `${at}.${keyword}`);
    for (const keyword of MAPS) this.#map(schema[keyword], `${at}.${keyword}`);
    if (Array.isArray(schema["items"])) this.#list(schema["items"], `${at}.items`);
    else this.subschema(schema["items"], `${at}.items`);
  }

  #list(schemas: unknown, at: string): void {
    if (Array.isArray(schemas))
      for (const [index, schema] of schemas.entries()) this.subschema(schema, `${at}[${index}]`);
  }

  #map(schemas: unknown, at: string): void {
    if (isJsonObject(schemas))
      for (const [name, schema] of Object.entries(schemas)) this.subschema(schema, `${at}.${name}`);
  }

  #reference(reference: unknown, at: string): void {
    if (reference === undefined) return;
    if (typeof reference !== "string") return this.#note(`${at}.$ref`, "is not text");
    const target = localTarget(reference, this.#root);
    if (target) return this.subschema(target, reference);
    this.#names ??= namesIn(this.#root);
    if (!this.#names.has(reference)) this.#note(`${at}.$ref`, "refers to a schema that is not in the definition");
  }

  #note(at: string, problem: string): void {
    this.fault ??= `\`outputSchema${at}\` ${problem}`;
  }
}

/** Returns whether a schema with OpenAPI's `nullable` has a compatible `type`, which `nullable` requires. */
function fitsNullable({ type, nullable }: JsonObject): boolean {
  const types = Array.isArray(type) ? type : [type];
  if (nullable === undefined) return true;
  return type !== undefined && (nullable === true || !types.includes("null"));
}

/** Returns the names that a reference can contain: identities, and anchors after a `#`. */
function namesIn(root: JsonObject): ReadonlySet<string> {
  const names = new Set<string>();
  const walk = (value: unknown): void => {
    if (Array.isArray(value)) return value.forEach(walk);
    if (!isJsonObject(value)) return;
    for (const key of ["$anchor", "$dynamicAnchor"]) if (typeof value[key] === "string") names.add(`#${value[key]}`);
    if (typeof value["$id"] === "string") names.add(value["$id"]);
    Object.values(value).forEach(walk);
  };
  walk(root);
  return names;
}
