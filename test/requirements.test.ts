import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, test } from "vitest";
import { ToolFolder } from "./support/tool-folder.ts";

const SCRIPT = fileURLToPath(new URL("../scripts/requirements.mjs", import.meta.url));

let folder: ToolFolder;

beforeEach(() => {
  folder = new ToolFolder();
  folder.write(
    "test/documents/rows.json",
    JSON.stringify([row("T3", "covered"), { ...row("L3", "later"), work: "surfaces" }]),
  );
});
afterEach(() => folder[Symbol.dispose]());

function row(id: string, status: string): object {
  return { id, part: id[0], title: "what it asks", status };
}

/** Titles are concatenated here, because the script reads this file too. */
function writeTest(ids: string): void {
  folder.write("packages/part/src/part.test.ts", `test("${ids}${": "}a folder added is there", () => {});\n`);
}

function run(): { status: number | null; text: string } {
  const { status, stdout, stderr } = spawnSync(process.execPath, [SCRIPT, folder.path], { encoding: "utf8" });
  return { status, text: stdout + stderr };
}

test("rows that are covered need a test whose title names them; other rows do not", () => {
  writeTest("T3");
  expect(run()).toMatchObject({
    status: 0,
    text: expect.stringContaining("2 rows: 1 covered, 1 later (1 surfaces), 0 problems"),
  });
});

test("a covered row without a test is an error", () => {
  writeTest("L3");
  expect(run()).toMatchObject({
    status: 1,
    text: expect.stringContaining("T3 (what it asks) is marked as covered, and no test's title names it"),
  });
});

test("an id in a title without a row is an error, with its position", () => {
  writeTest("T3, T99");
  expect(run()).toMatchObject({
    status: 1,
    text: expect.stringContaining("T99 is no row: packages/part/src/part.test.ts:1"),
  });
});
