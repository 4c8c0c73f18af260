import { execFileSync } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, expect, test } from "vitest";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const made: string[] = [];

afterEach(() => {
  for (const file of made.splice(0)) rmSync(file, { recursive: true, force: true });
});

/** The linter's words on one file that stands in `src/` for the length of the test. */
function lint(file: string, text: string): string {
  const path = join(root, "src", file);
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
