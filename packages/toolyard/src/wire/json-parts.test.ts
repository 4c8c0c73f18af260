import * as fc from "fast-check";
import { expect, test } from "vitest";
import { hasMorePartsThan } from "./json-parts.ts";

function partsOf(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  const keys = Array.isArray(value) ? 0 : Object.keys(value).length;
  return Object.values(value).reduce<number>((sum, member) => sum + partsOf(member), keys + 1);
}

const objectOf = (keys: number): Record<string, number> =>
  Object.fromEntries(Array.from({ length: keys }, (_, at) => [`k${at}`, at]));

test("S4: counts keys, objects and lists once each, at any position", () => {
  fc.assert(
    fc.property(fc.json({ maxDepth: 6 }), fc.integer({ min: 1, max: 12 }), (text, bound) => {
      const value: unknown = JSON.parse(text);
      // A repeated key in the text is one key of the parsed value.
      if (JSON.stringify(value).length === text.replace(/\s/g, "").length)
        expect(hasMorePartsThan(text, bound)).toBe(partsOf(value) > bound);
    }),
  );
});

test("S4: counts each key of an object after the first 1,000 keys four times", () => {
  const count = (text: string): number => {
    let parts = 0;
    while (hasMorePartsThan(text, parts)) parts += 1;
    return parts;
  };
  expect(count(JSON.stringify(objectOf(1000)))).toBe(1001);
  expect(count(JSON.stringify(objectOf(1010)))).toBe(1041);
  expect(count(JSON.stringify([objectOf(900), objectOf(900)]))).toBe(1803);
  expect(count(JSON.stringify({ x: objectOf(1001), y: 1 }))).toBe(1008);
});

test("S4: does not count characters in strings", () => {
  const text = JSON.stringify({ text: '{"a":[{}],":":'.repeat(1000), "{[:": "\\" });
  expect([hasMorePartsThan(text, 3), hasMorePartsThan(text, 2)]).toEqual([false, true]);
});
