import { expect, test } from "vitest";
import { inListOrder } from "./list-order.ts";

const rows = (...keys: string[]) =>
  keys.map((key) => ({
    key,
    record: { source: { id: key.split("/")[0]!, kind: "http" as const, namespace: "", order: 0 } },
  }));
const shown = (keys: string[], ...inOwnOrder: string[]): string[] =>
  inListOrder(rows(...keys), new Set(inOwnOrder)).map(({ key }) => key);

test("sorts all rows by key if no source has its own order", () => {
  expect(shown(["b/1", "a/2", "a/1", "c/1"])).toEqual(["a/1", "a/2", "b/1", "c/1"]);
});

test("keeps the rows of a source with its own order together, at the place of its first key", () => {
  expect(shown(["c/1", "b/9", "b/1", "b/5", "a/2", "a/1"], "b")).toEqual(["a/1", "a/2", "b/9", "b/1", "b/5", "c/1"]);
});

test("does not mix the rows of sources with their own orders, for any order of arrival", () => {
  const expected = ["a/2", "a/1", "b/2", "b/1"];
  expect(shown(["a/2", "a/1", "b/2", "b/1"], "a", "b")).toEqual(expected);
  expect(shown(["b/2", "b/1", "a/2", "a/1"], "b", "a")).toEqual(expected);
});
