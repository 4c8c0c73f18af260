import { OptionError, type ModuleHub } from "toolyard";
import type { Environment } from "../shared/environment.ts";
import { answering } from "../shared/failure.ts";
import type { Service } from "../shared/service.ts";
import { findTimeZone } from "./time-zone.ts";
import { zonedTime } from "./zoned-time.ts";

const INPUT = {
  type: "object",
  properties: {
    timezone: {
      type: "string",
      description:
        "Time zone: an IANA name such as Europe/Paris, a city in an IANA name, or UTC. Omitted: the server's " +
        "time zone.",
    },
  },
  additionalProperties: false,
};

const OUTPUT = {
  type: "object",
  properties: {
    datetime: { type: "string", description: "Local time as ISO 8601 with the zone's offset." },
    date: { type: "string" },
    time: { type: "string" },
    weekday: { type: "string" },
    timezone: { type: "string" },
    abbreviation: { type: "string" },
    utc_offset: { type: "string" },
    is_dst: { type: "boolean", description: "True during daylight saving time." },
    next_change: {
      type: "object",
      description: "Next change of the offset; absent if the offset does not change within 400 days.",
      properties: { at: { type: "string" }, utc_offset: { type: "string" } },
    },
    iso_week: { type: "string" },
    day_of_year: { type: "integer" },
    utc: { type: "string" },
    unix: { type: "integer", description: "Unix time in seconds." },
  },
  required: ["datetime", "date", "time", "weekday", "timezone", "utc_offset", "is_dst", "utc", "unix"],
};

/** The datetime service: returns the time in any time zone. Requires no network. */
export const datetime: Service = { name: "datetime", tool: "get_current_datetime", port: 50_051, register };

function register(hub: ModuleHub, environment: Environment): void {
  const ownZone = ownZoneOf(environment);
  const handler = answering<{ readonly timezone?: string }>(async ({ timezone }) =>
    zonedTime(Date.now(), timezone?.trim() ? findTimeZone(timezone) : ownZone),
  );
  hub.registerTool(
    "get_current_datetime",
    handler,
    INPUT,
    "Returns the current date and time in a time zone, with weekday, UTC offset, daylight saving time and " +
      "the next change of the offset.",
    {
      title: "Current date and time",
      aliases: ["get_current_datetime_tool"],
      keywords: ["time", "date", "clock", "today", "now", "time zone"],
      outputSchema: OUTPUT,
      annotations: { readOnlyHint: true, openWorldHint: false },
    },
  );
}

function ownZoneOf(environment: Environment): string {
  const name = environment["DATETIME_TIMEZONE"];
  if (!name) return new Intl.DateTimeFormat().resolvedOptions().timeZone;
  try {
    return findTimeZone(name);
  } catch (error) {
    throw new OptionError(`DATETIME_TIMEZONE: ${(error as Error).message}`, { cause: error });
  }
}
