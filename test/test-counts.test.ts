import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { withEarlierCounts } from "../scripts/test-counts.mjs";
import { ToolFolder } from "./support/tool-folder.ts";

const ROOT = join(import.meta.dirname, "..");
const FIRST = { passed: 10, failed: 1, skipped: 2 };
const SECOND = { passed: 5, failed: 0, skipped: 3 };

let folder: ToolFolder;
let file: string;

beforeEach(() => {
  folder = new ToolFolder();
  file = join(folder.path, "counts.json");
});
afterEach(() => folder[Symbol.dispose]());

test("the second run reports the sum of both runs", () => {
  expect(withEarlierCounts(file, FIRST, false)).toEqual(FIRST);
  expect(withEarlierCounts(file, SECOND, true)).toEqual({ passed: 15, failed: 1, skipped: 5 });
});

test("a second run without the first run's file reports its own counts", () => {
  expect(withEarlierCounts(undefined, SECOND, true)).toEqual(SECOND);
});

test.each(["", "{", "null"])("a first run that left %j counts as a failure of the second run", (text) => {
  writeFileSync(file, text);
  expect(withEarlierCounts(file, SECOND, true)).toEqual({ passed: 5, failed: 1, skipped: 3 });
  writeFileSync(file, text);
  expect(withEarlierCounts(file, FIRST, false)).toEqual(FIRST);
});

test.each([["--tier", "some"], ["--tiers"], ["stray"]])("scripts/test.mjs refuses %j before it builds", (...args) => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [join(ROOT, "scripts/test.mjs"), ...args], {
    encoding: "utf8",
  });
  expect([status, stdout]).toEqual([1, ""]);
  expect(stderr).toMatch(/--tier is one of unit, main, rest, all|--tiers|stray/);
});
