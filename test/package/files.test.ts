import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { PACKAGE, ROOT } from "../cli/harness.ts";

const { files } = JSON.parse(readFileSync(join(PACKAGE, "package.json"), "utf8")) as { files: readonly string[] };

/** Files that `scripts/prepack.mjs` writes. */
const WRITTEN: readonly string[] = ["npm-shrinkwrap.json"];

test("each file of the manifest is in the built package, or comes from `prepack`", () => {
  const places = files.filter((place) => !place.startsWith("!") && !WRITTEN.includes(place));
  expect(places.filter((place) => !existsSync(join(PACKAGE, place)) && !existsSync(join(ROOT, place)))).toEqual([]);
});

test.each(["src", "test", "bench", "scripts", "examples", "servers"])("%s is not packed", (place) => {
  expect(files.some((one) => one === place || one.startsWith(`${place}/`))).toBe(false);
});
