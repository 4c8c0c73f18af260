import { isJsonObject, type JsonObject } from "../core/json/json.ts";
import { valuesOf, type OptionSchema } from "../core/options/option-schema.ts";
import type { LoadedConfig } from "./load.ts";

/** An effective option: path, value (secrets masked), and origin. */
export interface OptionLine {
  readonly path: string;
  readonly value: unknown;
  readonly origin: string;
  readonly description?: string;
}

export const MASK = "********";

/** Returns every effective option, including defaults, in the order of the schema. */
export function describeConfig(config: LoadedConfig<JsonObject>, schema: OptionSchema): OptionLine[] {
  return describeObject(config.tree, schema, { path: "", origins: config.origins });
}

/** A position in the configuration, with the origin of each value. */
interface ConfigPosition {
  readonly path: string;
  readonly origins: ReadonlyMap<string, string>;
}

function describeObject(
  tree: JsonObject,
  schema: OptionSchema,
  { path: prefix, origins }: ConfigPosition,
): OptionLine[] {
  const known = schema.properties ?? {};
  const keys = [...Object.keys(known), ...Object.keys(tree).filter((key) => !Object.hasOwn(known, key))];
  return keys.flatMap((key) => {
    const path = prefix === "" ? key : `${prefix}.${key}`;
    const own = Object.hasOwn(known, key) ? known[key]! : (valuesOf(schema) ?? {});
    return describeOption(tree[key], own, { path, origins });
  });
}

function describeOption(value: unknown, schema: OptionSchema, spot: ConfigPosition): OptionLine[] {
  const { path, origins } = spot;
  if (isTable(schema) && (value === undefined || isJsonObject(value))) return describeObject(value ?? {}, schema, spot);
  if (isTable(schema.items) && Array.isArray(value)) {
    const origin = originOf(path, origins);
    return value.flatMap((item, index) => {
      const place = `${path}[${index}]`;
      return describeOption(item, schema.items!, { path: place, origins: new Map([[place, origin]]) });
    });
  }
  const shown = value === undefined ? schema.default : mask(value, schema);
  if (shown === undefined) return [];
  const origin = value === undefined ? "default" : originOf(path, origins);
  return [
    { path, value: shown, origin, ...(schema.description === undefined ? {} : { description: schema.description }) },
  ];
}

function isTable(schema: OptionSchema | undefined): boolean {
  return schema?.type === "object" && (schema.properties !== undefined || valuesOf(schema) !== undefined);
}

function mask(value: unknown, schema: OptionSchema): unknown {
  const isSecret = schema.writeOnly === true || schema.anyOf?.some((member) => member.writeOnly) === true;
  return isSecret && value !== undefined ? MASK : value;
}

function originOf(path: string, origins: ReadonlyMap<string, string>): string {
  for (let key = path; key !== ""; key = key.slice(0, Math.max(key.lastIndexOf("."), key.lastIndexOf("["), 0))) {
    const origin = origins.get(key);
    if (origin !== undefined) return origin;
  }
  return "configuration";
}
