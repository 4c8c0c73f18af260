// The tiers of the tests: which files `npm run test:unit`, `npm test` and `npm run test:all` run. `test/tiers.json` is
// the list; CONTRIBUTING.md explains it. Each tier includes the one before it.
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const list = JSON.parse(readFileSync(join(root, "test/tiers.json"), "utf8"));

/** The files of each vitest project, as globs. An entry that ends with `/` is a folder. */
export const PROJECTS = {
  "unit-alone": { include: list.unit.alone, exclude: [] },
  unit: { include: list.unit.files, exclude: list.unit.alone },
  main: { include: list.main.files, exclude: globs(list.all.files) },
  rest: { include: globs(list.all.files), exclude: [] },
};

/** The projects that a value of `--tier` runs. `rest` is what `all` adds to `main`. */
export const TIERS = {
  unit: ["unit", "unit-alone"],
  main: ["unit", "unit-alone", "main"],
  rest: ["rest"],
  all: ["unit", "unit-alone", "main", "rest"],
};

/**
 * Goals in minutes on the usual machine: two cores without other load. `scripts/test.mjs` prints the goal next to the
 * time.
 */
export const GOAL_MINUTES = { unit: 1.5, main: 5, rest: 15, all: 20 };

function globs(entries) {
  return entries.map((entry) => (entry.endsWith("/") ? `${entry}**/*.test.ts` : entry));
}
