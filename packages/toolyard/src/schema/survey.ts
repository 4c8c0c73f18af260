import { formatBytes } from "../core/text/bytes.ts";
import { isJsonObject, type JsonObject } from "../core/json/json.ts";
import { FillSizes } from "./fill-size.ts";
import { localTarget } from "./local-target.ts";

/** Facts about a schema before it is compiled. */
export interface Survey {
  /** Reason why the schema cannot be used; absent if it can. */
  readonly unusable?: string;
  readonly hasDefaults: boolean;
  /** True if the schema refers to a published meta-schema, which the compiler then must have. */
  readonly refersToMetaSchema: boolean;
  /** Number of objects and lists in the schema. */
  readonly nodes: number;
}

/** Maximum number of nodes of a schema; a larger one would take seconds to compile. */
const MAX_NODES = 50_000;
const MAX_DEPTH = 200;
/** Maximum number of subschemas that may apply to one place of a value, after references were followed. */
const MAX_UNFOLDED = 100_000;

/** Maximum number of characters that defaults may add at one place of a value. */
export const MAX_FILLED_CHARS = 256 * 1024;

const META_SCHEMA = /^https?:\/\/json-schema\.org\//;

/** Inspects a schema from an untrusted author, in time linear in its size. */
export function surveySchema(schema: JsonObject): Survey {
  const survey: SchemaSurvey = { nodes: 0, hasDefaults: false, refersToMetaSchema: false, unusable: undefined };
  walk(schema, survey, 0);
  if (survey.unusable === undefined && unfoldedSize(schema, schema, new Map()) > MAX_UNFOLDED)
    survey.unusable = "its references multiply beyond what can be checked";
  if (survey.unusable === undefined && survey.hasDefaults && fillsTooMuch(schema))
    survey.unusable = `its defaults exceed ${formatBytes(MAX_FILLED_CHARS)}`;
  const { unusable, hasDefaults, refersToMetaSchema, nodes } = survey;
  return { hasDefaults, refersToMetaSchema, nodes, ...(unusable === undefined ? {} : { unusable }) };
}

/** Returns whether the defaults exceed the limit at any place. */
function fillsTooMuch(schema: JsonObject): boolean {
  const sizes = new FillSizes(schema);
  const visit = (value: unknown): boolean => {
    if (typeof value !== "object" || value === null) return false;
    return sizes.of(value) > MAX_FILLED_CHARS || Object.values(value).some(visit);
  };
  return visit(schema);
}

interface SchemaSurvey {
  nodes: number;
  hasDefaults: boolean;
  refersToMetaSchema: boolean;
  unusable: string | undefined;
}

function walk(value: unknown, survey: SchemaSurvey, depth: number): void {
  if (typeof value !== "object" || value === null || survey.unusable !== undefined) return;
  survey.nodes += 1;
  if (survey.nodes > MAX_NODES) survey.unusable = `it has more than ${MAX_NODES} parts`;
  if (depth > MAX_DEPTH) survey.unusable = `it is nested more than ${MAX_DEPTH} deep`;
  if (!Array.isArray(value)) lookAt(value as JsonObject, survey);
  for (const member of Object.values(value)) walk(member, survey, depth + 1);
}

function lookAt(schema: JsonObject, survey: SchemaSurvey): void {
  if (Object.hasOwn(schema, "default")) survey.hasDefaults = true;
  // A schema with `$async` is unusable, because it compiles to an asynchronous function.
  if (schema["$async"] !== undefined) survey.unusable = "it requires asynchronous validation";
  if (typeof schema["$ref"] === "string" && META_SCHEMA.test(schema["$ref"])) survey.refersToMetaSchema = true;
  if (typeof schema["$id"] === "string" && META_SCHEMA.test(schema["$id"]))
    survey.unusable = "it claims the identity of a published meta-schema";
}

const IN_PLACE = ["allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas"];

// Returns the number of subschemas that may apply to one place of a value. With references, a small schema can describe
// a large tree: if each of ten definitions contains the next one twice, a thousand subschemas apply. A reference back
// to a schema that is being counted adds nothing, because the depth of the value limits it.
function unfoldedSize(schema: unknown, root: JsonObject, known: Map<JsonObject, number>): number {
  if (!isJsonObject(schema)) return 1;
  const before = known.get(schema);
  if (before !== undefined) return before;
  known.set(schema, 0);
  let size = 1;
  const target = typeof schema["$ref"] === "string" ? localTarget(schema["$ref"], root) : undefined;
  if (target) size += unfoldedSize(target, root, known);
  for (const key of IN_PLACE) {
    const member = schema[key];
    if (member === undefined) continue;
    const parts = Array.isArray(member)
      ? member
      : key === "dependentSchemas" && isJsonObject(member)
        ? Object.values(member)
        : [member];
    for (const part of parts) size += unfoldedSize(part, root, known);
  }
  for (const deeper of deeperSchemas(schema)) size = Math.max(size, unfoldedSize(deeper, root, known));
  known.set(schema, size);
  return size;
}

function* deeperSchemas(schema: JsonObject): Iterable<unknown> {
  for (const key of ["properties", "patternProperties"])
    if (isJsonObject(schema[key])) yield* Object.values(schema[key]);
  for (const key of [
    "items",
    "additionalProperties",
    "contains",
    "propertyNames",
    "additionalItems",
    "unevaluatedProperties",
  ])
    yield schema[key];
  if (Array.isArray(schema["prefixItems"])) yield* schema["prefixItems"] as unknown[];
}
