import { expect, test } from "vitest";
import { CallMap, CallSet } from "./call-map.ts";

test("returns the value of a key, and undefined for a missing key", () => {
  const map = new CallMap<string | number, string>();
  map.set(1, "number");
  map.set("1", "text");
  expect([map.get(1), map.get("1"), map.get(2), map.has(2), map.size]).toEqual(["number", "text", undefined, false, 2]);
});

test("keeps a key once, with its last value and its first position", () => {
  const map = new CallMap<string, number>();
  map.set("a", 1);
  map.set("b", 2);
  map.set("a", 3);
  expect(map.entries()).toEqual([
    ["a", 3],
    ["b", 2],
  ]);
});

test("removes deleted entries and keeps the order of the others", () => {
  const map = new CallMap<number, string>();
  for (const [key, value] of [
    [1, "a"],
    [2, "b"],
    [3, "c"],
  ] as const)
    map.set(key, value);
  expect([map.delete(2), map.delete(2), map.values()]).toEqual([true, false, ["a", "c"]]);
});

test("accepts symbols as distinct keys", () => {
  const map = new CallMap<symbol, number>();
  const [one, other] = [Symbol("x"), Symbol("x")];
  map.set(one, 1);
  expect([map.get(one), map.get(other)]).toEqual([1, undefined]);
});

test("a list of values does not change when the map changes", () => {
  const map = new CallMap<number, string>();
  map.set(1, "a");
  const taken = map.values();
  map.clear();
  expect([taken, map.size]).toEqual([["a"], 0]);
});

test("a set contains an item until the item is deleted", () => {
  const set = new CallSet<string>();
  set.add("a");
  set.add("b");
  expect([set.delete("a"), set.delete("c"), set.values(), set.size]).toEqual([true, false, ["b"], 1]);
});

test("keeps the order of entries after many were deleted, in the map and in the set", () => {
  const map = new CallMap<number, string>();
  const set = new CallSet<number>();
  for (let at = 0; at < 2000; at += 1) {
    map.set(at, String(at));
    set.add(at);
  }
  for (let at = 0; at < 1999; at += 1) {
    map.delete(at);
    set.delete(at);
  }
  map.set(-1, "late");
  set.add(-1);
  expect([map.entries(), set.values()]).toEqual([
    [
      [1999, "1999"],
      [-1, "late"],
    ],
    [1999, -1],
  ]);
});

test("is empty after all entries were deleted, and accepts new entries", () => {
  const map = new CallMap<number, string>();
  const set = new CallSet<number>();
  for (let at = 0; at < 2000; at += 1) {
    map.set(at, String(at));
    set.add(at);
  }
  for (let at = 0; at < 2000; at += 1) {
    map.delete(at);
    set.delete(at);
  }
  expect([map.get(5), map.values(), set.values()]).toEqual([undefined, [], []]);
  map.set(7, "x");
  set.add(7);
  expect([map.get(7), map.size, set.values()]).toEqual(["x", 1, [7]]);
});
