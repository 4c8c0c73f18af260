import { toSchema, type Schema } from "../../ui/schema-form.tsx";

/** Returns the schema of the value at a path. Returns an empty schema for an unknown path. */
export function schemaAt(schema: Schema, [step, ...rest]: readonly string[]): Schema {
  if (step === undefined) return schema;
  const named = toSchema(schema["properties"])[step];
  return schemaAt(toSchema(named ?? schema["items"] ?? schema["additionalProperties"]), rest);
}

/**
 * Returns a schema without the alternatives that every option has: a variable instead of a number, and a file instead
 * of a secret. Fields show such values as text.
 */
export function withoutReferences(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutReferences);
  if (typeof value !== "object" || value === null) return value;
  const members = Object.fromEntries(Object.entries(value).map(([name, one]) => [name, withoutReferences(one)]));
  const branches = members["anyOf"];
  if (!Array.isArray(branches)) return members;
  const left = branches.map(toSchema).filter((branch) => !isReference(branch));
  if (left.length !== 1) return { ...members, anyOf: left };
  const { anyOf: _anyOf, ...rest } = members;
  return { ...left[0], ...rest };
}

function isReference(branch: Schema): boolean {
  const { pattern, properties, required, additionalProperties } = branch;
  if (typeof pattern === "string" && pattern.includes("\\$\\{")) return true;
  const isFile = Object.keys(toSchema(properties)).join() === "file";
  return isFile && additionalProperties === false && Array.isArray(required);
}

/** Returns whether a section, or one of its options, contains the words. */
export function matchesWords(name: string, schema: Schema, words: string): boolean {
  const options = Object.keys(toSchema(schema["properties"]));
  const text = [name, String(schema["description"] ?? ""), ...options].join(" ");
  return text.toLowerCase().includes(words.trim().toLowerCase());
}

/** Returns a value without members that are `null`, which TOML does not have. */
export function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.filter((one) => one !== null).map(withoutNulls);
  if (typeof value !== "object" || value === null) return value;
  const members = Object.entries(value).filter(([, one]) => one !== null);
  return Object.fromEntries(members.map(([name, one]) => [name, withoutNulls(one)]));
}
