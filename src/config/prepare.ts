import { resolve } from "node:path";
import { isJsonObject } from "../core/json.ts";
import type { OptionSchema } from "../core/option-schema.ts";
import { expandTree, type ExpandContext } from "./expand.ts";

export interface PrepareContext extends ExpandContext {
  /** Every secret that was resolved, to be redacted wherever text leaves the program. */
  readonly secrets: Set<string>;
}

/**
 * Readies one value for its part: references expanded, `{file}` read, text from a variable turned into the number or
 * truth value that the schema wants, paths made absolute against the file's folder, secrets noted. What the schema does
 * not know stays as it is; the check will name it. Throws `MissingValue`.
 */
export async function prepareValue(
  value: unknown,
  schema: OptionSchema | undefined,
  context: PrepareContext,
): Promise<unknown> {
  const chosen = schema && chooseMember(value, schema);
  if (isJsonObject(value) && chosen?.type === "object") return prepareObject(value, chosen, context);
  if (Array.isArray(value)) return Promise.all(value.map((item) => prepareValue(item, chosen?.items, context)));
  const expanded = await expandTree(value, { ...context, onSecret: (secret) => void context.secrets.add(secret) });
  if (typeof expanded !== "string" || chosen === undefined) return expanded;
  if (chosen.writeOnly) context.secrets.add(expanded);
  if (chosen.format === "path") return resolve(context.folder, expanded);
  return typeof value === "string" && value.includes("${") ? fromText(expanded, chosen) : expanded;
}

async function prepareObject(
  value: Record<string, unknown>,
  schema: OptionSchema,
  context: PrepareContext,
): Promise<unknown> {
  const rest = isJsonObject(schema.additionalProperties) ? (schema.additionalProperties as OptionSchema) : undefined;
  const members = await Promise.all(
    Object.entries(value).map(async ([key, member]) => {
      const own = schema.properties && Object.hasOwn(schema.properties, key) ? schema.properties[key] : rest;
      return [key, await prepareValue(member, own, context)] as const;
    }),
  );
  return Object.fromEntries(members);
}

function chooseMember(value: unknown, schema: OptionSchema): OptionSchema {
  if (!schema.anyOf) return schema;
  const type = Array.isArray(value) ? "array" : isJsonObject(value) ? "object" : typeof value;
  const same = schema.anyOf.filter(
    (member) => member.type === type || (type === "number" && member.type === "integer"),
  );
  return same[0] ?? schema.anyOf[0] ?? schema;
}

/**
 * What a variable's text means where a number or a truth value is wanted; other text stays, and the check speaks about
 * it.
 */
export function fromText(text: string, schema: OptionSchema): unknown {
  const types = schema.anyOf ? schema.anyOf.map((member) => member.type) : [schema.type];
  if (types.includes("string")) return text;
  if (types.includes("boolean") && /^(true|false|1|0|yes|no)$/i.test(text)) return /^(true|1|yes)$/i.test(text);
  if ((types.includes("integer") || types.includes("number")) && text.trim() !== "" && Number.isFinite(Number(text)))
    return Number(text);
  if (types.includes("array"))
    return text
      .split(",")
      .map((item) => item.trim())
      .filter((item) => item !== "");
  return text;
}
