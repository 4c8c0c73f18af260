import { parseDuration } from "../core/text/duration.ts";
import { OptionError } from "../core/errors.ts";
import { isJsonObject } from "../core/json/json.ts";
import { nearest } from "../core/text/suggest.ts";
import { firstChars } from "../core/text/truncate.ts";

/**
 * Returns options with keys in snake_case. Accepts keys in snake_case, as in the specified Python interfaces, and in
 * camelCase. `null` means absent, like `None` in Python. Throws an `OptionError` for a key that is not in `known`, and
 * if both spellings of a key are given.
 */
export function snakeKeys<T extends object>(options: T, known: readonly string[]): Partial<Record<string, unknown>> {
  const result: Record<string, unknown> = {};
  for (const [given, value] of Object.entries(options)) {
    if (value === undefined || value === null) continue;
    const key = toSnake(given);
    if (!known.includes(key)) throw new OptionError(`There is no option \`${given}\`.${hintAt(nearest(key, known))}`);
    if (Object.hasOwn(result, key))
      throw new OptionError(`\`${key}\` is given in both spellings. Remove one of the two.`);
    result[key] = value;
  }
  return result;
}

export function toSnake(key: string): string {
  return key.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

function hintAt(near: readonly string[]): string {
  return near.length > 0 ? ` Did you mean ${[...new Set(near)].map((key) => `\`${key}\``).join(", ")}?` : "";
}

/**
 * Returns the options; `null` means none. Throws an `OptionError` that shows the correct form if `options` is not an
 * object, because programs translated from Python may pass options by position.
 */
export function assertOptions<T extends object>(className: string, options: T | null | undefined, example: string): T {
  if (options === null) return {} as T;
  if (isJsonObject(options)) return options as T;
  const got = typeof options === "object" ? JSON.stringify(options) : `\`${String(options)}\``;
  throw new OptionError(
    `\`${className}\` requires its options as one object, such as \`{ ${example} }\`; got ` +
      `${firstChars(got, MAX_SHOWN)}.`,
  );
}

const MAX_SHOWN = 200;

/** Throws an `OptionError` that names the first present option that is not an object. */
export function assertObjects(options: Readonly<Record<string, unknown>>): void {
  for (const [name, value] of Object.entries(options)) {
    if (value !== undefined && !isJsonObject(value))
      throw new OptionError(
        `\`${name}\` must be an object, got ${firstChars(JSON.stringify(value) ?? "undefined", MAX_SHOWN)}.`,
      );
  }
}

/**
 * Converts a time to milliseconds: a number is in seconds, as in the specified Python interfaces; text has a unit.
 * Throws an `OptionError` that names the option.
 */
export function parseSeconds(value: unknown, name: string): number {
  const timeMs = readTime(value, name);
  if (timeMs !== undefined && timeMs > 0) return timeMs;
  throw new OptionError(
    `\`${name}\` must be a number of seconds above 0, or text with its unit such as "500ms", "30s" or "5m"; ` +
      `got ${typeof value === "number" ? String(value) : JSON.stringify(value)}.`,
  );
}

function readTime(value: unknown, name: string): number | undefined {
  if (typeof value === "number") return Number.isFinite(value) ? value * 1000 : undefined;
  try {
    return typeof value === "string" ? parseDuration(value, name) : undefined;
  } catch {
    return undefined;
  }
}
