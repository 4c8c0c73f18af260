import { isJsonObject, type JsonObject } from "../core/json/json.ts";
import type { OptionSchema } from "../core/options/option-schema.ts";

/**
 * Returns the configuration's JSON Schema (2020-12) for editors. It also allows secrets as `{file = "…"}` and numbers
 * as `"${VAR}"`.
 */
export function publishedSchema(schema: OptionSchema): JsonObject {
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    title: "toolyard.toml",
    ...(publish(schema) as JsonObject),
  };
}

const REFERENCE = { type: "string", pattern: "\\$\\{[^}]+\\}", description: "A variable: ${VAR} or ${VAR:-default}." };
const FILE = {
  type: "object",
  properties: { file: { type: "string" } },
  required: ["file"],
  additionalProperties: false,
};

function publish(value: unknown): unknown {
  if (Array.isArray(value)) return value.map((item) => publish(item));
  if (!isJsonObject(value)) return value;
  const { writeOnly, format, ...rest } = value;
  const members = Object.fromEntries(
    Object.entries(rest).map(([key, member]) => [key, key === "properties" ? publishMap(member) : publish(member)]),
  );
  if (writeOnly === true) return withAlternatives(members, [FILE]);
  if (["integer", "number", "boolean"].includes(String(members["type"]))) return withAlternatives(members, [REFERENCE]);
  return format === undefined || format === "path" ? members : { ...members, format };
}

// A property may be called `format` or `writeOnly`; property names are not schema keywords.
function publishMap(value: unknown): unknown {
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, publish(member)]));
}

function withAlternatives(schema: JsonObject, alternatives: readonly JsonObject[]): JsonObject {
  const { description, default: fallback, ...own } = schema;
  return {
    ...(description === undefined ? {} : { description }),
    ...(fallback === undefined ? {} : { default: fallback }),
    anyOf: [own, ...alternatives],
  };
}
