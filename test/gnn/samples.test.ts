// The sample models of the public project, whose licence keeps them out of this repository: GNN_SAMPLES names a copy.
import { readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { expect, test } from "vitest";
import { checkGnn } from "../../servers/gnn/checks/check.ts";
import { toData } from "../../servers/gnn/language/data.ts";
import { UNREAD_CODES } from "../../servers/gnn/language/diagnostics.ts";
import { parseGnn } from "../../servers/gnn/language/parse.ts";
import { printGnn } from "../../servers/gnn/language/print.ts";
import { drawGnn } from "../../servers/gnn/pictures/draw.ts";

const FOLDER = process.env["GNN_SAMPLES"] ?? "";
const NO_SAMPLES = "GNN_SAMPLES names no folder";

/** Files below a folder that state a model. */
function samplesIn(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(".md"))
    .map(({ parentPath, name }) => join(parentPath, name))
    .filter((path) => /^## *StateSpaceBlock/m.test(readFileSync(path, "utf8")))
    .toSorted();
}

/** Rows of the table in test/RESULTS.md: file and how often each code is told. */
function tabled(): ReadonlyMap<string, string> {
  const text = readFileSync(new URL("../RESULTS.md", import.meta.url), "utf8");
  const rows = text.matchAll(/^\| `([^`|]+\.md)` +\| ([^|]*)\|/gm);
  return new Map(Array.from(rows, ([, file, codes]) => [file!, codes!.trim()]));
}

function codesOf(text: string): string {
  const counts = new Map<string, number>();
  for (const { code } of checkGnn(text).diagnostics) counts.set(code, (counts.get(code) ?? 0) + 1);
  const sorted = [...counts].toSorted(([one], [other]) => (one < other ? -1 : 1));
  return sorted.map(([code, count]) => (count === 1 ? code : `${count} ${code}`)).join(", ");
}

test("C40: every line of every public sample is read, and printing changes no model", async ({ skip }) => {
  skip(FOLDER === "", NO_SAMPLES);
  const samples = samplesIn(join(FOLDER, "input"));
  expect(samples.length).toBeGreaterThan(20);
  for (const path of samples) {
    const { file, diagnostics } = checkGnn(readFileSync(path, "utf8"));
    expect(
      diagnostics.filter(({ code }) => UNREAD_CODES.has(code)),
      path,
    ).toEqual([]);
    expect(toData(parseGnn(printGnn(file)).file), path).toEqual(toData(file));
    expect(await drawGnn(file), path).toMatch(/^<svg /);
  }
});

test("C40: what is said of the public samples is what was read by hand", ({ skip }) => {
  skip(FOLDER === "", NO_SAMPLES);
  const table = tabled();
  for (const path of samplesIn(join(FOLDER, "input"))) {
    const name = relative(FOLDER, path).replaceAll("\\", "/");
    expect([name, codesOf(readFileSync(path, "utf8"))]).toEqual([name, table.get(name)]);
  }
});
