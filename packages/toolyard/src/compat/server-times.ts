import { isDuration } from "../core/text/duration.ts";
import { isJsonObject } from "../core/json/json.ts";
import type { OptionSchema } from "../core/options/option-schema.ts";
import { parseSeconds } from "./option-keys.ts";

type ServerTimeProperties = Readonly<Record<string, OptionSchema>>;

/**
 * Converts settings of a server to the hub's configuration. A time without a unit is in seconds in the specified Python
 * interfaces, but in milliseconds in the hub's configuration. Throws an `OptionError`.
 */
export function withSeconds<T extends object>(settings: T, properties: ServerTimeProperties): T {
  const entries = Object.entries(settings).map(([key, value]) => [key, toHubTime(properties[key], value, key)]);
  return Object.fromEntries(entries) as T;
}

function toHubTime(schema: OptionSchema | undefined, value: unknown, name: string): unknown {
  // 0 is not converted: the option's own check decides whether 0 is allowed.
  if (schema === undefined || value === undefined || value === 0) return value;
  if (isDuration(schema)) return parseSeconds(value, name);
  const { additionalProperties: each } = schema;
  if (!isJsonObject(each) || !isDuration(each) || !isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, time]) => [key, time === 0 ? 0 : parseSeconds(time, `${name}.${key}`)]),
  );
}
