import { isDuration } from "../core/text/duration.ts";
import { isJsonObject } from "../core/json/json.ts";
import type { OptionSchema } from "../core/options/option-schema.ts";
import { parseSeconds } from "./option-keys.ts";

type ServerTimeProperties = Readonly<Record<string, OptionSchema>>;

/**
 * Settings of a server as the hub's own configuration has them. There a bare number of a time counts milliseconds; in
 * programs of the documents it counts seconds, in every option. Throws an `OptionError` in those words.
 */
export function withSeconds<T extends object>(settings: T, properties: ServerTimeProperties): T {
  const entries = Object.entries(settings).map(([key, value]) => [key, toHubTime(properties[key], value, key)]);
  return Object.fromEntries(entries) as T;
}

function toHubTime(schema: OptionSchema | undefined, value: unknown, name: string): unknown {
  // Whether none at all will do is said by the option itself.
  if (schema === undefined || value === undefined || value === 0) return value;
  if (isDuration(schema)) return parseSeconds(value, name);
  const { additionalProperties: each } = schema;
  if (!isJsonObject(each) || !isDuration(each) || !isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, time]) => [key, time === 0 ? 0 : parseSeconds(time, `${name}.${key}`)]),
  );
}
