import * as fc from "fast-check";
import { expect, test } from "vitest";
import { hasMoreKeysThan, KEYS_IN_ALL } from "./json-keys.ts";

const objectOf = (keys: number): Record<string, number> =>
  Object.fromEntries(Array.from({ length: keys }, (_, index) => [`key ${index}`, index]));

function mostKeysOf(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  const own = Array.isArray(value) ? 0 : Object.keys(value).length;
  return Math.max(own, 0, ...Object.values(value).map(mostKeysOf));
}

function allKeysOf(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  const own = Array.isArray(value) ? 0 : Object.keys(value).length;
  return Object.values(value).reduce<number>((sum, member) => sum + allKeysOf(member), own);
}

test("S4: accepts an object with as many keys as the limit, and refuses one with more", () => {
  expect(hasMoreKeysThan(JSON.stringify(objectOf(500)), 500)).toBe(false);
  expect(hasMoreKeysThan(JSON.stringify(objectOf(501)), 500)).toBe(true);
  expect(hasMoreKeysThan(JSON.stringify([{ deep: [objectOf(501)] }]), 500)).toBe(true);
});

test("S4: accepts many objects if they have few enough keys together", () => {
  const list = (objects: number): string => JSON.stringify(Array.from({ length: objects }, () => objectOf(100)));
  expect(hasMoreKeysThan(list(KEYS_IN_ALL), 100)).toBe(false);
  expect(hasMoreKeysThan(list(KEYS_IN_ALL + 1), 100)).toBe(true);
});

test("S4: the scan agrees with the parsed value for any JSON", () => {
  fc.assert(
    fc.property(fc.json({ maxDepth: 6 }), fc.integer({ min: 1, max: 6 }), (text, bound) => {
      const value: unknown = JSON.parse(text);
      const isTooMuch = mostKeysOf(value) > bound || allKeysOf(value) > bound * KEYS_IN_ALL;
      // A repeated key in the text is one key of the parsed value.
      if (JSON.stringify(value).length === text.replace(/\s/g, "").length)
        expect(hasMoreKeysThan(text, bound)).toBe(isTooMuch);
    }),
  );
});
