import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { useTransformCache } from "./cache-folder.ts";
import { typescriptNodeArgs } from "./node-args.ts";

const folder = mkdtempSync(join(tmpdir(), "toolyard-args-"));

afterAll(() => rmSync(folder, { recursive: true, force: true }));

test("runs a TypeScript script with its helpers, and reports the line of a rejected script on stderr", () => {
  writeFileSync(join(folder, "helper.ts"), "export enum E { A = 'a' }");
  writeFileSync(
    join(folder, "script.ts"),
    "import { E } from './helper.js';\nconst e: E = E.A;\nprocess.stdout.write(e);",
  );
  writeFileSync(join(folder, "bad.ts"), "\nnamespace N { export const x = 1 }");
  const run = (name: string) =>
    spawnSync(process.execPath, [...typescriptNodeArgs(), join(folder, name)], { encoding: "utf8" });
  expect(run("script.ts")).toMatchObject({ status: 0, stdout: "a", stderr: "" });
  expect(run("bad.ts").stderr).toContain("bad.ts:2: Namespace `N` holds values");
});

test("transforms an unchanged script once with a cache folder, and ignores a damaged cache file", () => {
  const cache = join(folder, "cache with a space");
  useTransformCache(cache);
  const script = join(folder, "cached.ts");
  const run = () => spawnSync(process.execPath, [...typescriptNodeArgs(), script], { encoding: "utf8" }).stdout;
  writeFileSync(script, "const word: string = 'one'; process.stdout.write(word);");
  expect([run(), run(), readdirSync(cache).length]).toEqual(["one", "one", 1]);
  const copy = join(cache, readdirSync(cache)[0]!);
  writeFileSync(copy, readFileSync(copy, "utf8").replace("one", "two"));
  expect(run()).toBe("one");
  writeFileSync(script, "const word: string = 'new'; process.stdout.write(word);");
  expect([run(), readdirSync(cache).length]).toEqual(["new", 2]);
});
