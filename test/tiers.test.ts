// The tiers of test/tiers.json: each test file belongs to exactly one vitest project, and the quick tier covers each
// endpoint, source kind, era and engine.
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, relative, sep } from "node:path";
import { expect, test } from "vitest";
import { PROJECTS, TIERS } from "../scripts/tiers.mjs";
import { SANDBOX_ENGINES } from "../packages/toolyard/src/sandbox/options.ts";

const ROOT = join(import.meta.dirname, "..");
const LIST = JSON.parse(readFileSync(join(ROOT, "test/tiers.json"), "utf8")) as {
  unit: { alone: string[] };
  all: { files: string[] };
};
const LEFT_OUT: ReadonlySet<string> = new Set(["node_modules", ".git", "dist", "build", "coverage"]);

/** Returns files that end in `.test.ts`, relative to the repository, with `/` between the folders. */
function testFiles(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return LEFT_OUT.has(entry.name) ? [] : testFiles(path);
    return entry.name.endsWith(".test.ts") ? [relative(ROOT, path).replaceAll(sep, "/")] : [];
  });
}

/** Compiles a glob of test/tiers.json: `**` matches any number of folders, `*` any characters except a slash. */
function matcherOf(glob: string): RegExp {
  const escaped = glob.replaceAll(/[.+^${}()|[\]\\]/g, String.raw`\$&`);
  const pattern = escaped.replaceAll(/\*\*\/|\*/g, (found) => (found === "*" ? "[^/]*" : "(?:.*/)?"));
  return new RegExp(`^${pattern}$`);
}

const isIn = (file: string, globs: readonly string[]): boolean => globs.some((glob) => matcherOf(glob).test(file));

function projectsOf(file: string): string[] {
  return Object.entries(PROJECTS)
    .filter(([, { include, exclude }]) => isIn(file, include) && !isIn(file, exclude))
    .map(([name]) => name);
}

test("each test file of the repository is in exactly one project", () => {
  const files = testFiles(ROOT);
  expect(files.length).toBeGreaterThan(500);
  expect(files.filter((file) => projectsOf(file).length !== 1).map((file) => [file, projectsOf(file)])).toEqual([]);
});

test.each([
  ["packages/toolyard/src/core/json.test.ts", ["unit"]],
  ["packages/toolyard/src/core/gathered-bytes.test.ts", ["unit-alone"]],
  ["packages/gnn/src/deep/er/parse.test.ts", ["unit"]],
  ["packages/gnn/test/parse.test.ts", ["main"]],
  ["test/wire/sessions.test.ts", ["main"]],
  ["test/sandbox/attacks/deno.test.ts", ["rest"]],
  ["scripts/stray.test.ts", []],
  ["servers/stray.test.ts", []],
])("%s is in the projects %j", (file, projects) => expect(projectsOf(file)).toEqual(projects));

test("`all` and `rest` with `main` run every project, and `main` includes `unit`", () => {
  expect([...TIERS.all].toSorted()).toEqual(Object.keys(PROJECTS).toSorted());
  expect([...TIERS.main, ...TIERS.rest].toSorted()).toEqual(Object.keys(PROJECTS).toSorted());
  expect(TIERS.main).toEqual(expect.arrayContaining([...TIERS.unit]));
});

test("each entry of the list names a file or a folder that exists, in alphabetical order", () => {
  const entries = [...LIST.unit.alone, ...LIST.all.files];
  expect(entries.filter((entry) => !existsSync(join(ROOT, entry)))).toEqual([]);
  expect(LIST.all.files).toEqual(LIST.all.files.toSorted());
  expect(new Set(entries).size).toBe(entries.length);
});

test("`npm test` is the tier `main`, and .ci/run runs the rest after it and keeps both exit codes", () => {
  const { scripts } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as {
    scripts: Record<string, string>;
  };
  expect(scripts).toMatchObject({
    test: "node scripts/test.mjs",
    "test:unit": "node scripts/test.mjs --tier unit",
    "test:all": "node scripts/test.mjs --tier all",
  });
  const ci = readFileSync(join(ROOT, ".ci/run"), "utf8").split("\n");
  const [main, rest, end] = ["npm test ||", "node scripts/test.mjs --tier rest ||", 'exit "$code"'].map((start) =>
    ci.findIndex((line) => line.startsWith(start)),
  );
  expect(main).toBeGreaterThan(0);
  expect(rest).toBeGreaterThan(main!);
  expect(end).toBeGreaterThan(rest!);
});

test("vitest has the project names of the tiers", () => {
  const vitest = join(ROOT, "node_modules/vitest/vitest.mjs");
  const args = [vitest, "list", "--filesOnly", "--json", "--project", "unit-alone"];
  const { stdout } = spawnSync(process.execPath, args, {
    cwd: ROOT,
    encoding: "utf8",
    env: { ...process.env, TEST_BUILD_IS_NEW: "yes" },
  });
  const files = (JSON.parse(stdout) as { file: string }[]).map(({ file }) => relative(ROOT, file).replaceAll(sep, "/"));
  expect(files.toSorted()).toEqual(LIST.unit.alone.toSorted());
});

// The file with the paths iterates over the source's own list, so an addition is tested or fails there.
test.each([
  ["endpoint, client library and era", "test/endpoints/matrix.test.ts", /Object\.entries<SurfaceRow>\(SURFACES\)/],
  ["source kind", "test/endpoints/matrix.test.ts", /Object\.keys\(PROVIDER_KINDS\)/],
  ["engine", "test/sandbox/engines.test.ts", /SANDBOX_ENGINES\.map/],
])("the quick tier has a path for each %s", (_what, file, iteration) => {
  expect(projectsOf(file)).toEqual(["main"]);
  expect(readFileSync(join(ROOT, file), "utf8")).toMatch(iteration);
});

test.each(SANDBOX_ENGINES)("the tier `all` runs the contract and the attacks for the engine %s", (engine) => {
  expect(projectsOf(`test/sandbox/engine-${engine}.test.ts`)).toEqual(["rest"]);
  expect(projectsOf(`test/sandbox/attacks/${engine}.test.ts`)).toEqual(["rest"]);
});
