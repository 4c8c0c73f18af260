import { expect, test } from "vitest";
import { formatDuration, parseDuration } from "./duration.ts";
import { OptionError } from "../errors.ts";

test.each([
  [250, 250],
  ["250", 250],
  ["250ms", 250],
  ["30s", 30_000],
  [" 5 m ", 300_000],
  ["1.5h", 5_400_000],
  ["1h 30m", 5_400_000],
  ["1d", 86_400_000],
])("parses the duration %s", (value, milliseconds) => {
  expect(parseDuration(value)).toBe(milliseconds);
});

test.each(["", "fast", "-1s", "1y", "1 2", "s", "1e3", `${"1".repeat(100)}s`, -1, NaN, Infinity])(
  "refuses the duration %s",
  (value) => {
    expect(() => parseDuration(value, "call_timeout")).toThrow(OptionError);
  },
);

test("the error names the option, the value received and the accepted values", () => {
  expect(() => parseDuration("soon", "call_timeout")).toThrow(
    '`call_timeout` must be a number of milliseconds or a duration such as "30s", "5m" or "1h", got "soon".',
  );
});

test("formats durations for users", () => {
  expect([90, 30_000, 300_000, 7_200_000].map(formatDuration)).toEqual(["90 ms", "30 s", "5 min", "2 h"]);
});
