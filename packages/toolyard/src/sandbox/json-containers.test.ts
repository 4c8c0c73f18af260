import { expect, test } from "vitest";
import { hasMoreContainers } from "./json-containers.ts";

test("counts objects and arrays, but not brackets inside strings", () => {
  const json = JSON.stringify({ a: [1, { b: "{[{[\\" }, []], "{[": '" {{{' });
  expect(hasMoreContainers(json, 4)).toBe(false);
  expect(hasMoreContainers(json, 3)).toBe(true);
});

test("counts the containers of text that is not JSON up to the end of the text", () => {
  expect(hasMoreContainers('"never ends [[[[\\', 0)).toBe(false);
  expect(hasMoreContainers("[[[[", 3)).toBe(true);
});
