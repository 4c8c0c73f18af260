import * as fc from "fast-check";
import { expect, test } from "vitest";
import { excessIn, excessText, KEYS_IN_ALL } from "./json-bounds.ts";

const hasMoreKeysThan = (text: string, maxJsonKeys: number): boolean =>
  excessIn(text, { maxJsonDepth: Infinity, maxJsonKeys }) === "keys";
const hasMorePartsThan = (text: string, maxJsonParts: number): boolean =>
  excessIn(text, { maxJsonDepth: Infinity, maxJsonParts }) === "parts";

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

function partsOf(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  const keys = Array.isArray(value) ? 0 : Object.keys(value).length;
  return Object.values(value).reduce<number>((sum, member) => sum + partsOf(member), keys + 1);
}

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

test("S4: reports the limit of parts before that of depth, and that of depth before that of keys", () => {
  const text = JSON.stringify({ a: 1, b: 2, c: [[[1]]] });
  const found = (maxJsonDepth: number, maxJsonKeys?: number, maxJsonParts?: number) =>
    excessIn(text, {
      maxJsonDepth,
      ...(maxJsonKeys !== undefined && { maxJsonKeys }),
      ...(maxJsonParts !== undefined && { maxJsonParts }),
    });
  expect([found(4), found(3), found(4, 3), found(4, 2), found(3, 2)]).toEqual([
    undefined,
    "depth",
    undefined,
    "keys",
    "depth",
  ]);
  expect([found(3, 2, 7), found(3, 2, 6), found(9, 9, 6), found(9, 2, 7)]).toEqual(["depth", "parts", "parts", "keys"]);
});

test("S4: the depth agrees with the nesting of the parsed value for any JSON", () => {
  const depthOf = (value: unknown): number =>
    typeof value === "object" && value !== null ? 1 + Math.max(0, ...Object.values(value).map(depthOf)) : 0;
  fc.assert(
    fc.property(fc.json({ maxDepth: 6 }), fc.integer({ min: 0, max: 7 }), (text, maxJsonDepth) => {
      const isTooDeep = depthOf(JSON.parse(text)) > maxJsonDepth;
      expect(excessIn(text, { maxJsonDepth })).toBe(isTooDeep ? "depth" : undefined);
    }),
  );
});

test("S4: texts of refusals name the limits", () => {
  const bounds = { maxJsonDepth: 3, maxJsonKeys: 10, maxJsonParts: 5 };
  expect(excessText("depth", bounds)).toBe("nests deeper than 3 levels");
  expect(excessText("keys", bounds)).toContain("more than 10 keys, or more than 200 keys in all");
  expect(excessText("parts", bounds)).toContain("more than 5 keys, objects and lists");
});
