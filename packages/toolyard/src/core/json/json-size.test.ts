import { expect, test } from "vitest";
import { jsonSize } from "./json-size.ts";

test.each([
  [{ a: 1, b: [true, null, "text"], c: { d: "ü".repeat(100) } }],
  [[]],
  ["plain"],
  [{ text: "x".repeat(10_000) }],
])("returns the length of the JSON text, accurate to a few bytes", (value) => {
  const bytes = Buffer.byteLength(JSON.stringify(value));
  expect(Math.abs(jsonSize(value) - bytes)).toBeLessThan(bytes * 0.05 + 12);
});

test("stops counting at the limit", () => {
  const touched: number[] = [];
  const items = Array.from({ length: 1000 }, (_, index) => ({
    get text() {
      touched.push(index);
      return "x".repeat(100);
    },
  }));
  expect(jsonSize(items, 1000)).toBeGreaterThan(1000);
  expect(touched.length).toBeLessThan(20);
});

test("S4: reports unlimited nesting without following it", () => {
  expect(jsonSize(JSON.parse("[".repeat(100_000) + "]".repeat(100_000)))).toBe(Infinity);
  expect(jsonSize(JSON.parse("[".repeat(900) + "]".repeat(900)))).toBeLessThan(4000);
});
