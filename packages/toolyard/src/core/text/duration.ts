import { stringifyExact } from "../json/exact-json.ts";
import { OptionError } from "../errors.ts";
import { Type, type OptionSchema } from "../options/option-schema.ts";
import { amountOption, type AmountBounds, type AmountNotes, type AmountOption } from "../options/option-values.ts";

const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };
// Each amount except the first must end with a unit, because otherwise the digits of one number could match as several
// amounts.
const PATTERN = "^\\s*\\d+(\\.\\d+)?\\s*(ms|s|m|h|d)?(\\s*\\d+(\\.\\d+)?\\s*(ms|s|m|h|d))*\\s*$";
const DURATION = new RegExp(PATTERN);
const PART = /(\d+(?:\.\d+)?)\s*(ms|s|m|h|d)?/g;
const MAX_CHARS = 64;

/**
 * Converts `30`, `"30s"`, `"1h 30m"`, `"1.5h"` or `"250ms"` to milliseconds; a number without a unit is in
 * milliseconds. Throws an `OptionError`.
 */
export function parseDuration(value: number | string, name = "duration"): number {
  if (typeof value === "number") {
    if (Number.isFinite(value) && value >= 0) return value;
    throw problem(name, value);
  }
  if (value.length > MAX_CHARS || !DURATION.test(value)) throw problem(name, value);
  let totalMs = 0;
  for (const [, amount, unit] of value.matchAll(PART)) totalMs += Number(amount) * UNIT_MS[unit ?? "ms"]!;
  return totalMs;
}

function problem(name: string, value: unknown): OptionError {
  return new OptionError(
    `\`${name}\` must be a number of milliseconds or a duration such as "30s", "5m" or "1h", got ` +
      `${stringifyExact(value)}.`,
  );
}

/** Returns the schema of an option that `parseDuration` reads, with further limits. */
export function durationOption<const N extends AmountNotes = {}>(notes?: N, bounds?: AmountBounds): AmountOption<N> {
  const written = Type.Union([Type.Number({ minimum: 0 }), Type.String({ pattern: PATTERN })], {
    examples: ["30s", "5m", "1h"],
    ...notes,
  });
  return amountOption<N>(written, parseDuration, bounds);
}

/** Returns true if an option is a duration. */
export function isDuration({ anyOf = [] }: OptionSchema): boolean {
  return anyOf.some(({ pattern }) => pattern === PATTERN);
}

/** Formats milliseconds for users: `250 ms`, `30 s`, `5 min`, `1.5 h`. */
export function formatDuration(milliseconds: number): string {
  if (milliseconds < 1000) return `${Math.round(milliseconds)} ms`;
  if (milliseconds < 120_000) return `${round(milliseconds / 1000)} s`;
  if (milliseconds < 7_200_000) return `${round(milliseconds / 60_000)} min`;
  return `${round(milliseconds / 3_600_000)} h`;
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
