import { OptionError } from "../../core/errors.ts";

/**
 * Fields of a pattern from right to left: day of the week, month, day of the month, hour, minute, second. `values`:
 * number of different values; 0 and 7 are both Sunday.
 */
const FIELDS = [
  { name: "day of the week", values: 7, min: 0, max: 7, words: ["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"] },
  {
    name: "month",
    values: 12,
    min: 1,
    max: 12,
    words: ["", "JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"],
  },
  { name: "day of the month", values: 31, min: 1, max: 31, words: [] },
  { name: "hour", values: 24, min: 0, max: 23, words: [] },
  { name: "minute", values: 60, min: 0, max: 59, words: [] },
  { name: "second", values: 60, min: 0, max: 59, words: [] },
] as const;

type CronField = (typeof FIELDS)[number];

const NICKNAMES: readonly string[] = ["@yearly", "@monthly", "@weekly", "@daily", "@hourly"];
/** Maximum length of a pattern. */
const MAX_LENGTH = 200;

/**
 * Checks a cron pattern without the library that computes its times, which only a hub with schedules loads. Throws an
 * `OptionError` that names the field.
 *
 * @param name name of the option, for the message
 */
export function assertCronPattern(pattern: string, name: string): void {
  if (NICKNAMES.includes(pattern)) return;
  const fields = pattern.trim().split(/\s+/).toReversed();
  if (pattern.length > MAX_LENGTH || fields.length < 5 || fields.length > 6)
    throw new OptionError(
      `${name} must have 5 fields (minute, hour, day of the month, month, day of the week), 6 with seconds first, or ` +
        `be one of ${NICKNAMES.join(", ")}, got ${JSON.stringify(pattern)}. Example: "0 3 * * *" is 03:00 every day.`,
    );
  for (const [index, text] of fields.entries()) {
    const field = FIELDS[index]!;
    if (text.split(",").every((part) => isPart(part, field))) continue;
    throw new OptionError(
      `${name} has an invalid ${field.name}, got "${text}" in ${JSON.stringify(pattern)}. It takes numbers from ` +
        `${field.min} to ${field.max}, lists (1,3), ranges (1-5), steps (*/2) and *.`,
    );
  }
}

/** Returns true for `*`, `5`, `1-5`, each also with a step: `1-30/5`. */
function isPart(part: string, field: CronField): boolean {
  const [range = "", step, ...more] = part.split("/");
  if (more.length > 0 || (step !== undefined && !isStep(step, field))) return false;
  if (range === "*") return true;
  const ends = range.split("-").map((end) => valueOf(end, field));
  if (ends.length > 2 || ends.includes(undefined)) return false;
  return ends.length === 1 ? step === undefined : ends[0]! <= ends[1]!;
}

/** Returns true for a step that is at most the number of values of the field: a step of 90 minutes is invalid. */
function isStep(text: string, { values }: CronField): boolean {
  return /^\d{1,2}$/.test(text) && Number(text) > 0 && Number(text) <= values;
}

function valueOf(text: string, { min, max, words }: CronField): number | undefined {
  const byName = text === "" ? -1 : (words as readonly string[]).indexOf(text.toUpperCase());
  const value = byName >= 0 ? byName : /^\d{1,2}$/.test(text) ? Number(text) : Number.NaN;
  return value >= min && value <= max ? value : undefined;
}
