import { expect, test } from "vitest";
import { formatBytes, parseBytes } from "./bytes.ts";
import { OptionError } from "../errors.ts";

test.each([
  [1024, 1024],
  ["1024", 1024],
  ["4MiB", 4_194_304],
  ["10 MB", 10_000_000],
  ["1.5kib", 1536],
  ["12b", 12],
])("parses the size %s", (value, bytes) => {
  expect(parseBytes(value)).toBe(bytes);
});

test.each(["", "big", "-1", "4 TB", "4M", NaN, -1])("refuses the size %s", (value) => {
  expect(() => parseBytes(value, "max_body")).toThrow(OptionError);
});

test("formats sizes for users", () => {
  expect([512, 1500, 10_000_000, 2e9].map(formatBytes)).toEqual(["512 B", "1.5 kB", "10 MB", "2 GB"]);
});
