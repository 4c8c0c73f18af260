import { parseDuration } from "../core/duration.ts";
import { OptionError } from "../core/errors.ts";
import { nearest } from "../core/suggest.ts";

/**
 * The documents write option keys in snake_case, programs in camelCase: both are taken, and snake_case comes out.
 * Throws an `OptionError` for a key that is none of `known`, and where both spellings of one key are given.
 */
export function snakeKeys<T extends object>(options: T, known: readonly string[]): Partial<Record<string, unknown>> {
  const result: Record<string, unknown> = {};
  for (const [given, value] of Object.entries(options)) {
    if (value === undefined) continue;
    const key = given.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    if (!known.includes(key)) throw new OptionError(`There is no option \`${given}\`.${hintAt(nearest(key, known))}`);
    if (Object.hasOwn(result, key)) throw new OptionError(`\`${key}\` is given in both spellings. Remove one of them.`);
    result[key] = value;
  }
  return result;
}

function hintAt(near: readonly string[]): string {
  return near.length > 0 ? ` Did you mean ${near.map((key) => `\`${key}\``).join(", ")}?` : "";
}

/**
 * Time as the documents' programs give it, in milliseconds: a number counts seconds, text carries its unit. Throws an
 * `OptionError`.
 */
export function parseSeconds(value: unknown, name: string): number {
  const timeMs = typeof value === "number" ? parseDuration(value * 1000, name) : parseDuration(String(value), name);
  if (timeMs > 0) return timeMs;
  throw new OptionError(`\`${name}\` must be above 0, got ${JSON.stringify(value)}.`);
}
