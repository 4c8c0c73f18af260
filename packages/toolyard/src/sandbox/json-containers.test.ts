import { expect, test } from "vitest";
import { hasMoreContainers } from "./json-containers.ts";

test("objects and arrays are counted, and what texts contain is not", () => {
  const json = JSON.stringify({ a: [1, { b: "{[{[\\" }, []], "{[": '" {{{' });
  expect(hasMoreContainers(json, 4)).toBe(false);
  expect(hasMoreContainers(json, 3)).toBe(true);
});

test("text that is no JSON is counted to its end", () => {
  expect(hasMoreContainers('"never ends [[[[\\', 0)).toBe(false);
  expect(hasMoreContainers("[[[[", 3)).toBe(true);
});
