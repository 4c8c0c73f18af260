import * as fc from "fast-check";
import { expect, test } from "vitest";
import { firstChars, lastChars, truncate } from "./truncate.ts";

test.each([
  ["abc", 3, "abc"],
  ["abc", 2, "ab"],
  ["a😀b", 3, "a😀"],
  ["a😀b", 2, "a"],
  ["😀", 1, ""],
  ["😀", 0, ""],
  ["", 5, ""],
])("firstChars(%j, %i) is %j", (text, max, expected) => {
  expect(firstChars(text, max)).toBe(expected);
});

test.each([
  ["abc", 2, "bc"],
  ["a😀b", 2, "b"],
  ["a😀b", 3, "😀b"],
  ["😀", 1, ""],
])("lastChars(%j, %i) is %j", (text, max, expected) => {
  expect(lastChars(text, max)).toBe(expected);
});

test.each([
  ["abcdef", 4, "abc…"],
  ["abcd", 4, "abcd"],
  ["ab😀cd", 4, "ab…"],
  ["abcdef", 1, "…"],
  ["abcdef", 0, "…"],
])("truncate(%j, %i) is %j", (text, max, expected) => {
  expect(truncate(text, max)).toBe(expected);
});

test("a well-formed text stays well-formed, for any characters and limit", () => {
  const text = fc.string({ unit: "binary", maxLength: 30 });
  fc.assert(
    fc.property(text, fc.nat(40), (given, max) => {
      for (const short of [firstChars(given, max), lastChars(given, max), truncate(given, max)])
        expect(short).not.toMatch(/\p{Surrogate}/u);
      expect(given.startsWith(firstChars(given, max))).toBe(true);
      expect(given.endsWith(lastChars(given, max))).toBe(true);
      expect(firstChars(given, max).length).toBeGreaterThanOrEqual(Math.min(given.length, max) - 1);
    }),
    { numRuns: 500, seed: 19 },
  );
});
