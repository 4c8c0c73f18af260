/** A moment in the local time of one time zone. */
export interface ZonedTime {
  /** Local time as ISO 8601 with the zone's offset: `2026-03-29T03:00:00+02:00`. */
  readonly datetime: string;
  readonly date: string;
  readonly time: string;
  readonly weekday: string;
  /** IANA name of the zone. */
  readonly timezone: string;
  /** Abbreviation such as `CEST` or `PDT`; `GMT+9` if English has none. */
  readonly abbreviation: string;
  /** Offset from UTC, such as `+02:00`. */
  readonly utc_offset: string;
  readonly is_dst: boolean;
  /** Next change of the offset within 400 days; absent if there is none. */
  readonly next_change?: { readonly at: string; readonly utc_offset: string };
  /** Week as ISO 8601: `2026-W13`. */
  readonly iso_week: string;
  readonly day_of_year: number;
  readonly utc: string;
  /** Seconds since 1970. */
  readonly unix: number;
}

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
const SEARCHED_DAYS = 400;
const MAX_FORMATTERS = 600;

/** Returns the moment `at`, in milliseconds since 1970, in a zone that `Intl` supports. */
export function zonedTime(at: number, timezone: string): ZonedTime {
  const seconds = Math.floor(at / 1000);
  const moment = seconds * 1000;
  const offsetMs = offsetAt(moment, timezone);
  const local = new Date(moment + offsetMs);
  const [date = "", time = ""] = local.toISOString().slice(0, 19).split("T");
  const change = nextChange(moment, offsetMs, timezone);
  return {
    datetime: isoAt(moment, offsetMs),
    date,
    time,
    weekday: WEEKDAYS[local.getUTCDay()]!,
    timezone,
    abbreviation: partOf(moment, timezone, "short"),
    utc_offset: offsetText(offsetMs),
    is_dst: offsetMs > standardOffset(local.getUTCFullYear(), timezone),
    ...(change === undefined
      ? {}
      : {
          next_change: {
            at: isoAt(change, offsetAt(change, timezone)),
            utc_offset: offsetText(offsetAt(change, timezone)),
          },
        }),
    iso_week: isoWeek(local),
    day_of_year: Math.floor((local.getTime() - Date.UTC(local.getUTCFullYear(), 0, 1)) / DAY_MS) + 1,
    utc: new Date(moment).toISOString().replace(".000Z", "Z"),
    unix: seconds,
  };
}

const WEEKDAYS = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"] as const;

/** Returns the zone's offset from UTC, in milliseconds. It is positive east of Greenwich. */
function offsetAt(at: number, timezone: string): number {
  const [, sign, hours = "0", minutes = "0", seconds = "0"] =
    /^GMT(?:([+-])(\d{2}):(\d{2})(?::(\d{2}))?)?$/.exec(partOf(at, timezone, "longOffset")) ?? [];
  const ms = Number(hours) * HOUR_MS + Number(minutes) * 60_000 + Number(seconds) * 1000;
  return sign === "-" ? -ms : ms;
}

// Clocks are ahead in summer in both hemispheres, so the smaller offset of a year is the standard one.
function standardOffset(year: number, timezone: string): number {
  return Math.min(offsetAt(Date.UTC(year, 0, 1), timezone), offsetAt(Date.UTC(year, 6, 1), timezone));
}

/** Returns the first second with another offset; undefined if there is none within the searched days. */
function nextChange(at: number, offsetMs: number, timezone: string): number | undefined {
  for (let day = 1; day <= SEARCHED_DAYS; day += 1) {
    if (offsetAt(at + day * DAY_MS, timezone) === offsetMs) continue;
    let [before, after] = [at + (day - 1) * DAY_MS, at + day * DAY_MS];
    while (after - before > 1000) {
      const middle = before + Math.floor((after - before) / 2000) * 1000;
      if (offsetAt(middle, timezone) === offsetMs) before = middle;
      else after = middle;
    }
    return after;
  }
  return undefined;
}

function isoAt(at: number, offsetMs: number): string {
  return `${new Date(at + offsetMs).toISOString().slice(0, 19)}${offsetText(offsetMs)}`;
}

function offsetText(offsetMs: number): string {
  const minutes = Math.round(Math.abs(offsetMs) / 60_000);
  const two = (value: number): string => String(value).padStart(2, "0");
  return `${offsetMs < 0 ? "-" : "+"}${two(Math.floor(minutes / 60))}:${two(minutes % 60)}`;
}

/** Returns the ISO 8601 week. A week belongs to the year of its Thursday. */
function isoWeek(local: Date): string {
  const thursday = new Date(
    Date.UTC(local.getUTCFullYear(), local.getUTCMonth(), local.getUTCDate() + 4 - (local.getUTCDay() || 7)),
  );
  const week = Math.ceil(((thursday.getTime() - Date.UTC(thursday.getUTCFullYear(), 0, 1)) / DAY_MS + 1) / 7);
  return `${thursday.getUTCFullYear()}-W${String(week).padStart(2, "0")}`;
}

// Creating a formatter takes a thousand times longer than using it.
const formatters = new Map<string, Intl.DateTimeFormat>();

function partOf(at: number, timeZone: string, style: "short" | "longOffset"): string {
  const key = `${style} ${timeZone}`;
  let formatter = formatters.get(key);
  if (!formatter) {
    if (formatters.size >= MAX_FORMATTERS) formatters.clear();
    formatter = new Intl.DateTimeFormat("en-US", { timeZone, timeZoneName: style, year: "numeric" });
    formatters.set(key, formatter);
  }
  return formatter.formatToParts(at).find(({ type }) => type === "timeZoneName")?.value ?? "";
}
