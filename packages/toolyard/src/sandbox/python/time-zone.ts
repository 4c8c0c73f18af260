const FIRST_YEAR = 1970;
const LAST_YEAR = 2060;
const DAY_S = 86_400;
const STEP_S = 14 * DAY_S;
const KEY = /^[A-Za-z][A-Za-z0-9_+/-]{0,63}$/u;

interface Period {
  /** Start of the period in seconds since 1970. */
  readonly from: number;
  readonly offset: number;
}

interface TimeZoneClock {
  /** Returns the offset in seconds east of UTC. */
  offsetAt(seconds: number): number;
}

/**
 * Returns a time zone in the format that Python's `zoneinfo` reads (TZif, version 2), built from Node's own data,
 * because the guest has no files of the machine. Covers 1970 to 2060; abbreviations are replaced with offsets.
 * Undefined for an unknown zone.
 */
export function timeZoneFile(key: string): Buffer | undefined {
  const clock = KEY.test(key) ? clockOf(key) : undefined;
  return clock === undefined ? undefined : encode(periodsOf(clock));
}

function clockOf(timeZone: string): TimeZoneClock | undefined {
  let format: Intl.DateTimeFormat;
  try {
    format = new Intl.DateTimeFormat("en-US", { timeZone, timeZoneName: "longOffset" });
  } catch {
    return undefined;
  }
  return {
    offsetAt(seconds) {
      const name = format.formatToParts(seconds * 1000).find(({ type }) => type === "timeZoneName")?.value ?? "";
      const [, sign, hours = 0, minutes = 0, rest = 0] = /([+-])(\d+):(\d+)(?::(\d+))?/u.exec(name) ?? [];
      const offset = Number(hours) * 3600 + Number(minutes) * 60 + Number(rest);
      return sign === "-" ? -offset : offset;
    },
  };
}

function periodsOf(clock: TimeZoneClock): Period[] {
  const start = Date.UTC(FIRST_YEAR, 0) / 1000;
  const end = Date.UTC(LAST_YEAR, 0) / 1000;
  const periods: Period[] = [{ from: start, offset: clock.offsetAt(start) }];
  for (let at = start; at < end; at += STEP_S) {
    const { offset } = periods.at(-1)!;
    if (clock.offsetAt(at + STEP_S) === offset) continue;
    const from = firstOther(clock, { from: at, offset });
    periods.push({ from, offset: clock.offsetAt(from) });
  }
  return periods;
}

/** Returns when the offset first changes, within the step that begins at `from`. */
function firstOther(clock: TimeZoneClock, { from, offset }: Period): number {
  let [same, other] = [from, from + STEP_S];
  while (other - same > 1) {
    const middle = Math.floor((same + other) / 2);
    if (clock.offsetAt(middle) === offset) same = middle;
    else other = middle;
  }
  return other;
}

function encode(periods: readonly Period[]): Buffer {
  // An offset counts as summer time if it is larger than the other offset of the zone within a year.
  const kinds = periods.map(({ from, offset }) => ({
    offset,
    dst: periods.some((other) => Math.abs(other.from - from) < 330 * DAY_S && other.offset < offset),
  }));
  const types = [...new Map(kinds.map((kind) => [`${kind.offset} ${kind.dst}`, kind])).values()];
  const names = types.map(({ offset }) => nameOf(offset));
  const at = names.map((_, index) => names.slice(0, index).join("").length);
  const changes = periods.slice(1);
  const body = Buffer.alloc(changes.length * 9 + types.length * 6);
  for (const [index, { from }] of changes.entries()) {
    const { offset, dst } = kinds[index + 1]!;
    body.writeBigInt64BE(BigInt(from), index * 8);
    body.writeUInt8(
      types.findIndex((type) => type.offset === offset && type.dst === dst),
      changes.length * 8 + index,
    );
  }
  for (const [index, { offset, dst }] of types.entries()) {
    const place = changes.length * 9 + index * 6;
    body.writeInt32BE(offset, place);
    body.writeUInt8(dst ? 1 : 0, place + 4);
    body.writeUInt8(at[index]!, place + 5);
  }
  const text = names.join("");
  return Buffer.concat([
    header(0, 0, 0),
    header(changes.length, types.length, text.length),
    body,
    Buffer.from(`${text}\n\n`),
  ]);
}

function header(changes: number, types: number, characters: number): Buffer {
  const bytes = Buffer.alloc(44);
  bytes.write("TZif2");
  for (const [index, count] of [0, 0, 0, changes, types, characters].entries())
    bytes.writeUInt32BE(count, 20 + index * 4);
  return bytes;
}

function nameOf(offset: number): string {
  if (offset === 0) return "UTC\0";
  const minutes = Math.round(Math.abs(offset) / 60);
  const rest = minutes % 60;
  const hours = String(Math.floor(minutes / 60)).padStart(2, "0");
  return `${offset < 0 ? "-" : "+"}${hours}${rest === 0 ? "" : String(rest).padStart(2, "0")}\0`;
}
