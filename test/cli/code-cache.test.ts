import { execFile } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ensureTools } from "../../scripts/tools.mjs";

const MAIN = join(import.meta.dirname, "../../packages/toolyard/dist/cli/main.js");
const run = promisify(execFile);

let home: string;

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), "toolyard-code-cache-"));
});

afterAll(() => rm(home, { recursive: true, force: true }));

async function help(node: string, folder: string, more: Readonly<Record<string, string>> = {}): Promise<string> {
  const { stdout, stderr } = await run(node, [MAIN, "--help"], {
    env: { PATH: process.env["PATH"], HOME: folder, TOOLYARD_HOME: folder, ...more },
  });
  expect(stderr).toBe("");
  return stdout.trim();
}

/** Files of compiled code in the data folder. */
function compiledFiles(folder: string): string[] {
  const place = join(folder, "data", "compiled");
  return existsSync(place)
    ? readdirSync(place, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => join(entry.parentPath, entry.name))
    : [];
}

test("Node 22 keeps the compiled code of the command in the data folder, and the next start adds none", async () => {
  const { node } = ensureTools();
  const folder = join(home, "kept");
  const first = await help(node, folder);
  const files = compiledFiles(folder);
  expect(files.length).toBeGreaterThan(1);
  expect(await help(node, folder)).toBe(first);
  expect(compiledFiles(folder)).toEqual(files);
});

test("Node 22 writes no compiled code if NODE_DISABLE_COMPILE_CACHE is set", async () => {
  const { node } = ensureTools();
  const folder = join(home, "disabled");
  await help(node, folder, { NODE_DISABLE_COMPILE_CACHE: "1" });
  expect(compiledFiles(folder)).toEqual([]);
});

test("Node 22 starts if the data folder cannot be created", async () => {
  const { node } = ensureTools();
  expect(await help(node, "/dev/null/nowhere")).toContain("toolyard");
});
