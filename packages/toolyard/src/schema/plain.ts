import { stringifyExact } from "../core/json/exact-json.ts";
import { isJsonObject, type JsonObject, listMember } from "../core/json/json.ts";
import { localTarget } from "./local-target.ts";

/**
 * Measures of a plain schema. A schema is plain if compiling it, and validating a value of ordinary size, takes only a
 * few milliseconds. It respects the limits below, has only references to places in itself, without cycles, and no
 * identities or anchors except its own. All other schemas are handled in a thread.
 */
export interface PlainSchema {
  /** Number of subschemas, including all referenced ones. */
  readonly parts: number;
  /** Maximum number of steps that one more item or member of a value costs. */
  readonly stepsPerItem: number;
  /** True if the schema has a keyword that reads every character of a text. */
  readonly readsText: boolean;
  /** Number of characters of default values, counted once per reference. */
  readonly defaultChars: number;
}

/**
 * Maximum number of subschemas after references were followed. Of the schemas of 8,000 published tools, the largest has
 * 61.
 */
const MAX_PLAIN_PARTS = 100;
/** Maximum number of objects, lists and values in the whole schema, including unreferenced ones. */
const MAX_PLAIN_VALUES = 5_000;
/** Maximum number of characters that become code: names, patterns and defaults, after references were followed. */
const MAX_PLAIN_CODE_CHARS = 8_000;
/** Maximum length of one name. The code of everything below it repeats the name. */
const MAX_PLAIN_NAME_CHARS = 200;
/** Maximum number of characters of all patterns together. */
const MAX_PLAIN_PATTERN_CHARS = 2_000;
/** Maximum number of nested levels of the schema. */
const MAX_PLAIN_DEPTH = 60;

/** Returns the measures of a plain schema, or undefined for any other. Reads no more than the limits allow. */
export function measurePlain(schema: JsonObject): PlainSchema | undefined {
  if (countValues(schema, 0) > MAX_PLAIN_VALUES) return undefined;
  const measure = new Measure(schema);
  measure.subschema(schema, { isRoot: true, weight: 1 });
  if (!measure.isPlain) return undefined;
  const { parts, defaultChars, readsText } = measure;
  return Object.freeze({ parts, defaultChars, readsText, stepsPerItem: measure.stepsPerItem });
}

/** Counts values up to the limit. Returns more than the limit if the nesting is too deep. */
function countValues(value: unknown, depth: number): number {
  if (typeof value !== "object" || value === null) return 1;
  if (depth > MAX_PLAIN_DEPTH) return MAX_PLAIN_VALUES + 1;
  let count = 1;
  for (const key in value) {
    count += countValues((value as JsonObject)[key], depth + 1);
    if (count > MAX_PLAIN_VALUES) break;
  }
  return count;
}

/** Keywords that refer to a schema in a way that is not followed here, or that give a schema a name. */
const FAR: ReadonlySet<string> = new Set([
  "$dynamicRef",
  "$dynamicAnchor",
  "$recursiveRef",
  "$recursiveAnchor",
  "$anchor",
  "$async",
]);
const READING_TEXT = ["pattern", "format", "minLength", "maxLength", "uniqueItems", "propertyNames"];
const ONE = ["not", "if", "then", "else"];
const LISTS = ["allOf", "anyOf", "oneOf"];
/** Keywords whose schema applies to several items or members of one value. */
const REPEATED = [
  "items",
  "additionalItems",
  "contains",
  "unevaluatedItems",
  "additionalProperties",
  "unevaluatedProperties",
  "propertyNames",
];
/** Steps per branch: an error is created for each branch that does not fit, and discarded. */
const BRANCH_STEPS = 4;
/** Steps per item of a list with `uniqueItems`: items are serialized to be compared. */
const UNIQUE_STEPS = 20;
/** Number of names or values that one step compares. */
const NAMES_PER_STEP = 8;

interface SchemaContext {
  readonly isRoot?: boolean;
  /** Number of steps to count for one subschema at this place. */
  readonly weight: number;
  /** True if a value may have any number of parts to which the subschema applies. */
  readonly isRepeated?: boolean;
}

class Measure {
  isPlain = true;
  parts = 0;
  defaultChars = 0;
  readsText = false;
  stepsPerItem = 1;
  readonly #root: JsonObject;
  #codeChars = 0;
  #patternChars = 0;

  constructor(root: JsonObject) {
    this.#root = root;
  }

  subschema(schema: unknown, place: SchemaContext): void {
    if (schema === undefined || !this.isPlain) return;
    this.parts += 1;
    if (place.isRepeated) this.stepsPerItem += place.weight;
    // The limit also ends a cycle of references.
    if (this.parts > MAX_PLAIN_PARTS) this.isPlain = false;
    if (!this.isPlain || !isJsonObject(schema)) return;
    this.#own(schema, place);
    this.#reference(schema, place);
    const { isRepeated = false } = place;
    for (const key of ONE) this.subschema(schema[key], { weight: BRANCH_STEPS, isRepeated });
    for (const key of LISTS) this.#all(schema[key], { weight: BRANCH_STEPS, isRepeated });
    for (const key of REPEATED) this.#each(schema[key], { weight: place.weight, isRepeated: true });
    this.#all(schema["prefixItems"], place);
    this.#all(schema["properties"], { weight: place.weight, isRepeated });
    this.#all(schema["patternProperties"], { weight: BRANCH_STEPS, isRepeated: true });
    this.#all(schema["dependentSchemas"], { weight: BRANCH_STEPS, isRepeated });
    this.#all(schema["dependencies"], { weight: BRANCH_STEPS, isRepeated });
  }

  /** Visits the subschemas of one keyword. In draft-07, `items` may be a list. */
  #each(member: unknown, place: SchemaContext): void {
    if (Array.isArray(member)) this.#all(member, place);
    else this.subschema(member, place);
  }

  #all(members: unknown, place: SchemaContext): void {
    if (typeof members !== "object" || members === null) return;
    for (const member of Object.values(members)) {
      if (!this.isPlain) return;
      // A value of `dependencies` may also be a list of names.
      if (Array.isArray(member)) this.parts += 1;
      else this.subschema(member, place);
    }
  }

  #reference(schema: JsonObject, place: SchemaContext): void {
    const reference = schema["$ref"];
    if (reference === undefined) return;
    const target = typeof reference === "string" ? localTarget(reference, this.#root) : undefined;
    if (target === undefined) this.isPlain = false;
    else this.subschema(target, { ...place, isRoot: target === this.#root });
  }

  /** Measures the keywords of the schema itself, without its subschemas. */
  #own(schema: JsonObject, place: SchemaContext): void {
    if (namesOthers(schema, place)) this.isPlain = false;
    if (READING_TEXT.some((key) => key in schema)) this.readsText = true;
    if (schema["uniqueItems"] === true) this.stepsPerItem += UNIQUE_STEPS;
    this.#names(schema, place);
    this.#pattern(schema["pattern"]);
    if (isJsonObject(schema["patternProperties"])) Object.keys(schema["patternProperties"]).forEach(this.#pattern);
    if ("default" in schema) this.#default(schema["default"]);
    if (this.#codeChars + this.defaultChars > MAX_PLAIN_CODE_CHARS) this.isPlain = false;
    if (this.#patternChars > MAX_PLAIN_PATTERN_CHARS) this.isPlain = false;
  }

  #names(schema: JsonObject, { isRepeated = false }: SchemaContext): void {
    const names = namesOf(schema);
    const isClosed = "additionalProperties" in schema || "unevaluatedProperties" in schema;
    const compared = names.length + listLength(schema["enum"]);
    if (isRepeated || isClosed) this.stepsPerItem += Math.ceil(compared / NAMES_PER_STEP);
    for (const name of names) {
      this.#codeChars += name.length;
      if (name.length > MAX_PLAIN_NAME_CHARS) this.isPlain = false;
    }
  }

  readonly #pattern = (pattern: unknown): void => {
    if (typeof pattern === "string") this.#patternChars += pattern.length;
    if (this.#patternChars > 0) this.readsText = true;
  };

  #default(value: unknown): void {
    // Only texts may be long, so they are not serialised. Other values are short, because the number of values is
    // limited.
    this.defaultChars += typeof value === "string" ? value.length : (stringifyExact(value) ?? "").length;
  }
}

/** Returns whether the schema has an identity, or refers to others in a way that is not followed here. */
function namesOthers(schema: JsonObject, { isRoot = false }: SchemaContext): boolean {
  for (const key in schema) if (FAR.has(key)) return true;
  if (isRoot) return isPublished(schema["$id"]);
  return "$id" in schema || "$schema" in schema;
}

// Ajv resolves the id of a published meta-schema to that schema itself.
function isPublished(id: unknown): boolean {
  return typeof id === "string" && id.includes("json-schema.org/");
}

function namesOf(schema: JsonObject): readonly string[] {
  const names = isJsonObject(schema["properties"]) ? Object.keys(schema["properties"]) : [];
  const required = listMember(schema, "required");
  const dependent = isJsonObject(schema["dependentRequired"]) ? Object.values(schema["dependentRequired"]).flat() : [];
  return [...names, ...required, ...dependent].filter((name) => typeof name === "string");
}

function listLength(value: unknown): number {
  return Array.isArray(value) ? value.length : 0;
}
