import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ROOT } from "../cli/harness.ts";

const { files } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as { files: readonly string[] };

test("whatever the manifest has packed is there, `dist` once it is built", () => {
  expect(files.filter((place) => !place.startsWith("!") && !existsSync(join(ROOT, place)))).toEqual([]);
});

test.each(["src", "test", "bench", "scripts", "examples", "servers"])("%s is not packed", (place) => {
  expect(files.some((one) => one === place || one.startsWith(`${place}/`))).toBe(false);
});
