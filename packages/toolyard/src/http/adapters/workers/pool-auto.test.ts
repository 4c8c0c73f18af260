import { expect, test } from "vitest";
import { autoWorkers, resolveHttp } from "../../options.ts";

test.each([
  [1, 1],
  [2, 1],
  [4, 3],
  [64, 4],
])("with %i cores, `auto` starts %i workers", (cores, workers) => {
  expect(autoWorkers(cores)).toBe(workers);
});

test("accepts the number of workers as text too, and refuses it outside the limits", () => {
  expect([resolveHttp().workers, resolveHttp({ workers: 3 }).workers, resolveHttp({ workers: "3" }).workers]).toEqual([
    1, 3, 3,
  ]);
  for (const workers of [0, 65, 1.5, "99", "some"]) expect(() => resolveHttp({ workers })).toThrow(/server\.workers/);
});
