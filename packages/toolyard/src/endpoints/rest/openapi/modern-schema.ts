import { isJsonObject, type JsonObject } from "../../../core/json/json.ts";

/** A schema with the keywords of draft 2020-12, and the places that were renamed: old steps → new steps. */
export interface ModernSchema {
  readonly schema: JsonObject;
  readonly moved: readonly (readonly [from: readonly string[], to: readonly string[]])[];
}

/**
 * Converts one level of a schema to draft 2020-12: `definitions`, lists in `items`, `additionalItems`, `dependencies`,
 * boolean `exclusiveMinimum`. In older drafts, members beside `$ref` have no effect, so only the description is kept.
 */
export function modernise(raw: JsonObject, isOld: boolean): ModernSchema {
  if (isOld && typeof raw["$ref"] === "string") return { schema: onlyDescription(raw), moved: [] };
  const { definitions, additionalItems, dependencies, id: _, ...rest } = raw;
  const schema: JsonObject = rest;
  const moved: [readonly string[], readonly string[]][] = [];
  if (isJsonObject(definitions)) moveDefinitions(schema, definitions, moved);
  if (Array.isArray(schema["items"])) moveItems(schema, additionalItems, moved);
  if (isJsonObject(dependencies)) moveDependencies(schema, dependencies, moved);
  for (const [limit, exclusive] of [
    ["minimum", "exclusiveMinimum"],
    ["maximum", "exclusiveMaximum"],
  ] as const)
    moveLimit(schema, limit, exclusive);
  return { schema, moved };
}

function onlyDescription({ $ref, title, description, default: value, deprecated }: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries({ $ref, title, description, default: value, deprecated }).filter(([, one]) => one !== undefined),
  );
}

type Moves = [readonly string[], readonly string[]][];

function moveDefinitions(schema: JsonObject, definitions: JsonObject, moved: Moves): void {
  const defs = isJsonObject(schema["$defs"]) ? schema["$defs"] : {};
  const renamed = Object.entries(definitions).map(([name, one]): [string, unknown] => {
    const free = Object.hasOwn(defs, name) ? `${name}_` : name;
    moved.push([
      ["definitions", name],
      ["$defs", free],
    ]);
    return [free, one];
  });
  schema["$defs"] = Object.fromEntries([...Object.entries(defs), ...renamed]);
}

function moveItems(schema: JsonObject, additionalItems: unknown, moved: Moves): void {
  const list = schema["items"] as readonly unknown[];
  for (const at of list.keys())
    moved.push([
      ["items", String(at)],
      ["prefixItems", String(at)],
    ]);
  delete schema["items"];
  if (list.length > 0) schema["prefixItems"] = list;
  if (additionalItems === undefined) return;
  moved.push([["additionalItems"], ["items"]]);
  schema["items"] = additionalItems;
}

function moveDependencies(schema: JsonObject, dependencies: JsonObject, moved: Moves): void {
  const entries = Object.entries(dependencies);
  const names = entries.filter(([, one]) => Array.isArray(one));
  const schemas = entries.filter(([, one]) => !Array.isArray(one));
  if (names.length > 0) schema["dependentRequired"] = Object.fromEntries(names);
  if (schemas.length > 0) schema["dependentSchemas"] = Object.fromEntries(schemas);
  for (const [name] of schemas)
    moved.push([
      ["dependencies", name],
      ["dependentSchemas", name],
    ]);
}

function moveLimit(
  schema: JsonObject,
  limit: "minimum" | "maximum",
  exclusive: "exclusiveMinimum" | "exclusiveMaximum",
): void {
  if (typeof schema[exclusive] !== "boolean") return;
  if (schema[exclusive] && (typeof schema[limit] === "number" || typeof schema[limit] === "bigint")) {
    schema[exclusive] = schema[limit];
    delete schema[limit];
  } else {
    delete schema[exclusive];
  }
}
