import { isJsonObject, type JsonObject } from "../core/json/json.ts";

/**
 * Converts schemas of zod 3 to JSON Schema; zod from 4.2 on converts its schemas itself. The result describes the
 * input, before defaults and transformations. What JSON Schema cannot express is checked by the zod schema itself
 * afterwards.
 */
export function isZod3(value: unknown): value is Zod3Schema {
  return isJsonObject(value) && isJsonObject(value["_def"]) && typeof value["_def"]["typeName"] === "string";
}

export interface Zod3Schema {
  readonly _def: JsonObject & { readonly typeName: string };
  readonly safeParseAsync?: (value: unknown) => Promise<Zod3Answer>;
}

type Zod3Answer =
  | { readonly success: true; readonly data: unknown }
  | {
      readonly success: false;
      readonly error: { readonly issues: readonly { path: PropertyKey[]; message: string }[] };
    };

/** Maximum nesting of schemas. A schema that is nested deeper is assumed to contain itself. */
const MAX_DEPTH = 32;

export function zod3ToJsonSchema(schema: unknown, depth = 0): JsonObject {
  if (!isZod3(schema) || depth > MAX_DEPTH) return {};
  const { _def: def } = schema;
  const inner = (value: unknown): JsonObject => zod3ToJsonSchema(value, depth + 1);
  const made = WRITERS[def.typeName]?.(def, inner) ?? {};
  return typeof def["description"] === "string" ? { ...made, description: def["description"] } : made;
}

type SchemaWriter = (def: JsonObject, inner: (value: unknown) => JsonObject) => JsonObject;

/** Wrappers that do not change the accepted input. */
const innerType: SchemaWriter = (def, inner) => inner(def["innerType"]);

const WRITERS: Readonly<Record<string, SchemaWriter>> = {
  ZodString: (def) => withChecks({ type: "string" }, def, stringCheck),
  ZodNumber: (def) => withChecks({ type: isInteger(def) ? "integer" : "number" }, def, numberCheck),
  ZodBoolean: () => ({ type: "boolean" }),
  ZodNull: () => ({ type: "null" }),
  ZodNever: () => ({ not: {} }),
  ZodLiteral: (def) => ({ const: def["value"] }),
  ZodEnum: (def) => ({ type: "string", enum: def["values"] }),
  ZodNativeEnum: (def) => ({ enum: enumValues(def["values"]) }),
  ZodObject: objectSchema,
  ZodArray: (def, inner) => ({
    type: "array",
    items: inner(def["type"]),
    ...limit(def["minLength"] ?? def["exactLength"], "minItems"),
    ...limit(def["maxLength"] ?? def["exactLength"], "maxItems"),
  }),
  ZodSet: (def, inner) => ({ type: "array", items: inner(def["valueType"]), uniqueItems: true }),
  ZodTuple: (def, inner) => {
    const items = listOf(def["items"]).map(inner);
    return {
      type: "array",
      prefixItems: items,
      minItems: items.length,
      items: def["rest"] ? inner(def["rest"]) : false,
    };
  },
  ZodRecord: (def, inner) => ({ type: "object", additionalProperties: inner(def["valueType"]) }),
  ZodUnion: (def, inner) => ({ anyOf: listOf(def["options"]).map(inner) }),
  ZodDiscriminatedUnion: (def, inner) => ({ oneOf: listOf(def["options"]).map(inner) }),
  ZodIntersection: (def, inner) => ({ allOf: [inner(def["left"]), inner(def["right"])] }),
  ZodNullable: (def, inner) => ({ anyOf: [inner(def["innerType"]), { type: "null" }] }),
  ZodDefault: (def, inner) => ({
    ...inner(def["innerType"]),
    ...(typeof def["defaultValue"] === "function" ? { default: (def["defaultValue"] as () => unknown)() } : {}),
  }),
  ZodOptional: innerType,
  ZodReadonly: innerType,
  ZodBranded: (def, inner) => inner(def["type"]),
  ZodPipeline: (def, inner) => inner(def["in"]),
  // A function before the schema may convert any input, so no type is required.
  ZodEffects: (def, inner) =>
    isJsonObject(def["effect"]) && def["effect"]["type"] === "preprocess" ? {} : inner(def["schema"]),
  ZodLazy: (def, inner) => inner((def["getter"] as () => unknown)()),
};

function objectSchema(def: JsonObject, inner: (value: unknown) => JsonObject): JsonObject {
  const shape = (def["shape"] as () => JsonObject)();
  const required = Object.keys(shape).filter((name) => !mayBeAbsent(shape[name]));
  return {
    type: "object",
    properties: Object.fromEntries(Object.entries(shape).map(([name, value]) => [name, inner(value)])),
    ...(required.length > 0 ? { required } : {}),
    ...(def["unknownKeys"] === "strict" ? { additionalProperties: false } : {}),
  };
}

function mayBeAbsent(schema: unknown): boolean {
  const asked = schema as { isOptional?: () => boolean } | undefined;
  return asked?.isOptional?.() === true;
}

type ZodCheck = JsonObject & { readonly kind: string };

/**
 * Adds the checks of a zod schema to its JSON Schema. A schema with `coerce` accepts any input, so its type is not
 * required.
 */
function withChecks(base: JsonObject, def: JsonObject, write: (check: ZodCheck) => JsonObject): JsonObject {
  if (def["coerce"] === true) return {};
  return Object.assign(base, ...listOf(def["checks"]).map((check) => write(check as ZodCheck)));
}

function isInteger(def: JsonObject): boolean {
  return listOf(def["checks"]).some((check) => (check as ZodCheck).kind === "int");
}

const FORMATS: Readonly<Record<string, string>> = { email: "email", url: "uri", uuid: "uuid", datetime: "date-time" };

function stringCheck(check: ZodCheck): JsonObject {
  const format = FORMATS[check.kind];
  if (format !== undefined) return { format };
  if (check.kind === "regex") return patternOf(check["regex"] as RegExp);
  return {
    ...(check.kind === "min" || check.kind === "length" ? { minLength: check["value"] } : {}),
    ...(check.kind === "max" || check.kind === "length" ? { maxLength: check["value"] } : {}),
  };
}

// Returns the pattern without its flags: JSON Schema does not support flags, so the zod schema itself checks them.
function patternOf({ source, flags }: RegExp): JsonObject {
  return flags.replace("u", "") === "" ? { pattern: source } : {};
}

function numberCheck({ kind, value, inclusive }: ZodCheck): JsonObject {
  if (kind === "min") return { [inclusive === false ? "exclusiveMinimum" : "minimum"]: value };
  if (kind === "max") return { [inclusive === false ? "exclusiveMaximum" : "maximum"]: value };
  return kind === "multipleOf" ? { multipleOf: value } : {};
}

function limit(value: unknown, key: string): JsonObject {
  return isJsonObject(value) ? { [key]: value["value"] } : {};
}

// Removes the members that map the values of a numeric enum back to their names.
function enumValues(values: unknown): unknown[] {
  if (!isJsonObject(values)) return [];
  return Object.keys(values)
    .filter((key) => typeof values[String(values[key])] !== "number")
    .map((key) => values[key]);
}

function listOf(value: unknown): unknown[] {
  if (value instanceof Map) return [...value.values()];
  return Array.isArray(value) ? value : [];
}
