import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, expect, test } from "vitest";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const made: string[] = [];

afterEach(() => {
  for (const file of made.splice(0)) rmSync(file, { recursive: true, force: true });
});

/** The linter's output on one file that exists in `src/` during the test. */
function lint(file: string, text: string): string {
  const path = join(root, "packages", "toolyard", "src", file);
  made.push(path);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  try {
    return execFileSync(process.execPath, [join(root, "node_modules/oxlint/bin/oxlint"), path], {
      cwd: root,
      encoding: "utf8",
      stdio: "pipe",
    });
  } catch (error) {
    return String((error as { stdout: unknown }).stdout);
  }
}

test("an import that points down passes the linter", () => {
  expect(
    lint(
      "wire/import-rule-down.ts",
      'import { isJsonObject } from "../core/json.ts";\nexport const check = isJsonObject;\n',
    ),
  ).toContain("0 errors");
});

test("an import that points up is refused by the linter", () => {
  const words = lint(
    "core/import-rule-up.ts",
    'import { LineDecoder } from "../wire/lines.ts";\nexport const decoder = LineDecoder;\n',
  );
  expect(words).toContain("imports point down");
});

test("a folder in providers/ may not import its sibling", () => {
  const words = lint("providers/stdio/import-rule-sibling.ts", 'export { x } from "../http/x.ts";\n');
  expect(words).toContain("`providers/stdio` (tier 4) must not import `providers/http` (tier 4)");
});

/** Returns files that import themselves through others, and files between such cycles. */
function inCircles(imports: ReadonlyMap<string, readonly string[]>): readonly string[] {
  let left = [...imports.keys()];
  for (let before = Infinity; left.length < before;) {
    before = left.length;
    const there = new Set(left);
    const leading = left.filter((file) => imports.get(file)!.some((one) => there.has(one)));
    const reached = new Set(leading.flatMap((file) => imports.get(file)!));
    left = leading.filter((file) => reached.has(file));
  }
  return left;
}

/** Returns all imports of a file, also of types and dynamic ones, which the linter does not follow. */
function importsOf(path: string): readonly string[] {
  const found = readFileSync(path, "utf8").matchAll(/(?:\bfrom |\bimport\()\s*"(\.[^"]+)"/g);
  return Array.from(found, ([, specifier]) => join(dirname(path), specifier!));
}

const TREES = ["toolyard/src", "toolyard/servers", "gnn/src", "library/src"];

test.each(TREES)("in %s no file imports itself through others, statically or dynamically", (folder) => {
  const files = readdirSync(join(root, "packages", folder), { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts") && !/\.test\.ts$|import-rule-/.test(file))
    .map((file) => join(root, "packages", folder, file));
  expect(inCircles(new Map(files.map((file) => [file, importsOf(file)])))).toEqual([]);
});

test("finds a cycle, and does not report files that only import it", () => {
  const imports = { a: ["b"], b: ["c", "d"], c: ["b"], d: [] };
  expect(inCircles(new Map(Object.entries(imports)))).toEqual(["b", "c"]);
});
