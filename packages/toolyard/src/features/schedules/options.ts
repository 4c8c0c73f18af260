import { OptionError } from "../../core/errors.ts";
import type { JsonObject } from "../../core/json/json.ts";
import { type OptionSchema, Type, type Static } from "../../core/options/option-schema.ts";
import { readOptions } from "../../core/options/option-values.ts";
import { assertCronPattern } from "./cron-pattern.ts";

const ANY_VALUE: OptionSchema<unknown> = {};

const ScheduleSchema = Type.Object(
  {
    cron: Type.String({
      description:
        "Times of the runs as a cron pattern: minute, hour, day of the month, month, day of the week. `0 3 * * *` is " +
        "03:00 every day. With 6 fields the first is the second. Also `@hourly`, `@daily`, `@weekly`, `@monthly`, " +
        "`@yearly`.",
      minLength: 1,
    }),
    tool: Type.String({ description: "Tool to call, by any spelling of its name.", minLength: 1 }),
    arguments: Type.Optional(Type.Record(ANY_VALUE, { description: "Arguments of the call.", default: {} })),
    timezone: Type.Optional(
      Type.String({
        description: "Time zone of the pattern, such as `Europe/Berlin`. Default: that of the machine.",
        minLength: 1,
      }),
    ),
    overlap: Type.Optional(
      Type.Boolean({
        description: "True to start a run while an earlier run of the schedule is unfinished. Otherwise it is skipped.",
        default: false,
      }),
    ),
    enabled: Type.Optional(Type.Boolean({ description: "False to start no runs.", default: true })),
  },
  { description: "Call of a tool at set times." },
);

export const SCHEDULE_SECTIONS = {
  schedules: Type.Optional(
    Type.Record(ScheduleSchema, { description: "Calls at set times, while `toolyard serve` runs.", default: {} }),
  ),
};

/** Section of the configuration that schedules read. */
export interface ScheduleReads {
  readonly schedules?: Readonly<Record<string, Static<typeof ScheduleSchema>>>;
}

/** Schedule with its defaults. */
export interface Schedule {
  readonly name: string;
  readonly cron: string;
  readonly tool: string;
  readonly arguments: JsonObject;
  readonly timezone: string | undefined;
  readonly overlap: boolean;
  readonly enabled: boolean;
}

/** Largest number of schedules of one hub. */
const MAX_SCHEDULES = 1000;

/** Returns the schedules in the order of their names. Throws an `OptionError` for an invalid pattern or time zone. */
export function resolveSchedules({ schedules = {} }: ScheduleReads): readonly Schedule[] {
  const names = Object.keys(schedules).toSorted();
  if (names.length > MAX_SCHEDULES)
    throw new OptionError(`\`[schedules]\` may have ${MAX_SCHEDULES} entries, got ${names.length}.`);
  return names.map((name) => {
    const place = `schedules.${name}.`;
    const options = readOptions(ScheduleSchema, schedules[name]!, place);
    assertCronPattern(options.cron, `\`${place}cron\``);
    assertTimeZone(options.timezone, place);
    return { name, ...options, arguments: options.arguments as JsonObject, timezone: options.timezone };
  });
}

function assertTimeZone(timezone: string | undefined, place: string): void {
  if (timezone === undefined) return;
  try {
    void new Intl.DateTimeFormat("en", { timeZone: timezone });
  } catch {
    throw new OptionError(
      `\`${place}timezone\` must be a name of the IANA time zone database, such as "Europe/Berlin", got ` +
        `${JSON.stringify(timezone)}.`,
    );
  }
}
