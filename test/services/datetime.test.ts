import { describe, expect, test } from "vitest";
import { findTimeZone } from "../../packages/toolyard/servers/datetime/time-zone.ts";
import { zonedTime } from "../../packages/toolyard/servers/datetime/zoned-time.ts";

const at = (utc: string, timezone: string) => zonedTime(Date.parse(utc), timezone);

describe("zones with daylight saving time", () => {
  test.each([
    ["2026-03-29T00:59:59Z", "Europe/Berlin", "2026-03-29T01:59:59+01:00", false],
    ["2026-03-29T01:00:00Z", "Europe/Berlin", "2026-03-29T03:00:00+02:00", true],
    ["2026-10-25T00:30:00Z", "Europe/Berlin", "2026-10-25T02:30:00+02:00", true],
    ["2026-10-25T01:30:00Z", "Europe/Berlin", "2026-10-25T02:30:00+01:00", false],
    ["2026-03-08T06:59:59Z", "America/New_York", "2026-03-08T01:59:59-05:00", false],
    ["2026-03-08T07:00:00Z", "America/New_York", "2026-03-08T03:00:00-04:00", true],
    ["2026-07-01T00:00:00Z", "Europe/Dublin", "2026-07-01T01:00:00+01:00", true],
    ["2026-01-15T00:00:00Z", "Australia/Sydney", "2026-01-15T11:00:00+11:00", true],
    ["2026-07-15T00:00:00Z", "Australia/Sydney", "2026-07-15T10:00:00+10:00", false],
    // This zone shifts by half an hour.
    ["2026-01-15T00:00:00Z", "Australia/Lord_Howe", "2026-01-15T11:00:00+11:00", true],
    ["2026-07-15T00:00:00Z", "Australia/Lord_Howe", "2026-07-15T10:30:00+10:30", false],
  ])("M14: at %s the local time of %s is %s", (utc, timezone, datetime, isDst) => {
    expect(at(utc, timezone)).toMatchObject({ datetime, is_dst: isDst });
  });

  test("M14: reports the next change to the second, with the offset that follows", () => {
    expect(at("2026-11-22T00:00:00Z", "Europe/Berlin").next_change).toEqual({
      at: "2027-03-28T03:00:00+02:00",
      utc_offset: "+02:00",
    });
    expect(at("2026-03-29T00:59:59Z", "Europe/Berlin").next_change).toEqual({
      at: "2026-03-29T03:00:00+02:00",
      utc_offset: "+02:00",
    });
    expect(at("2026-03-29T01:00:00Z", "Europe/Berlin").next_change).toEqual({
      at: "2026-10-25T02:00:00+01:00",
      utc_offset: "+01:00",
    });
  });
});

describe("zones without daylight saving time", () => {
  test.each([
    ["Asia/Tokyo", "2026-11-22T09:00:00+09:00"],
    ["Asia/Kathmandu", "2026-11-22T05:45:00+05:45"],
    ["America/Caracas", "2026-11-21T20:00:00-04:00"],
    ["Pacific/Kiritimati", "2026-11-22T14:00:00+14:00"],
    ["UTC", "2026-11-22T00:00:00+00:00"],
  ])("M14: %s has the offset %s all year", (timezone, datetime) => {
    const told = at("2026-11-22T00:00:00Z", timezone);
    expect(told).toMatchObject({ datetime, is_dst: false, utc: "2026-11-22T00:00:00Z", unix: 1_795_305_600 });
    expect(told).not.toHaveProperty("next_change");
  });
});

test.each([
  ["2027-01-01T12:00:00Z", "Friday", "2026-W53", 1],
  ["2024-12-30T12:00:00Z", "Monday", "2025-W01", 365],
  ["2026-11-22T12:00:00Z", "Sunday", "2026-W47", 326],
])("M14: %s is a %s of %s, day %i of its year", (utc, weekday, isoWeek, dayOfYear) => {
  expect(at(utc, "UTC")).toMatchObject({ weekday, iso_week: isoWeek, day_of_year: dayOfYear });
});

describe("names of time zones", () => {
  test.each([
    ["Europe/Paris", "Europe/Paris"],
    ["europe/paris", "Europe/Paris"],
    ["Tokyo", "Asia/Tokyo"],
    ["new york", "America/New_York"],
    ["utc", "UTC"],
    ["  Asia/Kolkata ", "Asia/Kolkata"],
  ])("M14: %j means %s", (asked, zone) => {
    // Runtimes list either of the two names of this zone.
    expect([zone, zone === "Asia/Kolkata" ? "Asia/Calcutta" : zone]).toContain(findTimeZone(asked));
  });

  test.each([
    ["Europe/Pariss", "Did you mean Europe/Paris"],
    ["+09:00", "Give an IANA name such as Europe/Paris"],
    ["", "Unknown time zone"],
    ["x".repeat(100), "at most 64 characters, got 100"],
  ])("M14: reports that %j is not a zone, and names an alternative", (asked, words) => {
    expect(() => findTimeZone(asked)).toThrow(words);
  });
});
