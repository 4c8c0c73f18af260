import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { typescriptNodeArgs } from "./node-args.ts";

const folder = mkdtempSync(join(tmpdir(), "toolyard-args-"));

afterEach(() => rmSync(folder, { recursive: true, force: true }));

test("a child runs a TypeScript script with its helpers, and a refused one names its line on stderr", () => {
  writeFileSync(join(folder, "helper.ts"), "export enum E { A = 'a' }");
  writeFileSync(join(folder, "script.ts"), "import { E } from './helper.js';\nconst e: E = E.A;\nprocess.stdout.write(e);");
  writeFileSync(join(folder, "bad.ts"), "\nnamespace N { export const x = 1 }");
  const run = (name: string) => spawnSync(process.execPath, [...typescriptNodeArgs(), join(folder, name)], { encoding: "utf8" });
  expect(run("script.ts")).toMatchObject({ status: 0, stdout: "a", stderr: "" });
  expect(run("bad.ts").stderr).toContain("bad.ts:2: Namespace `N` holds values");
});
