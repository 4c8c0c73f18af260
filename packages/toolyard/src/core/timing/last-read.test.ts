import { expect, test } from "vitest";
import { LastRead } from "./last-read.ts";

test("parses a repeated text once, and a different text or a long text each time", () => {
  const read: string[] = [];
  const lengths = new LastRead((text) => {
    read.push(text.slice(0, 2));
    return { length: text.length };
  });
  const first = lengths.of("ab");
  expect(lengths.of("ab")).toBe(first);
  expect(lengths.of("abc")).toEqual({ length: 3 });
  expect(lengths.of("ab")).toEqual(first);
  const long = "x".repeat(5000);
  expect([lengths.of(long), lengths.of(long)]).toEqual([{ length: 5000 }, { length: 5000 }]);
  expect(read).toEqual(["ab", "ab", "ab", "xx", "xx"]);
});

test("refuses an unreadable text each time it is read", () => {
  const broken = new LastRead((text) => JSON.parse(text) as unknown);
  for (const _ of [1, 2]) expect(() => broken.of("{")).toThrow(SyntaxError);
  expect(broken.of("{}")).toEqual({});
});
