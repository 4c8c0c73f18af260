// The two sections of document G that consist of a heading only: their required content, and its tests.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ROOT } from "../../cli/harness.ts";

const read = (place: string): string => readFileSync(join(ROOT, place), "utf8");
const ROWS = JSON.parse(read("test/documents/rows.json")) as { id: string; status: string }[];

/** Returns the titles of tests in a folder and its subfolders. */
function titles(folder: string): string {
  return readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(".test.ts"))
    .map(({ parentPath, name }) => readFileSync(join(parentPath, name), "utf8"))
    .join("\n");
}

test("G80: tests cover each rule of security, and the guide describes permissions", () => {
  const rules = Array.from({ length: 18 }, (_, at) => `S${at + 1}`);
  expect(ROWS.filter(({ id, status }) => rules.includes(id) && status === "covered")).toHaveLength(rules.length);
  const all = titles("packages") + titles("test");
  for (const rule of rules)
    expect(
      [...all.matchAll(new RegExp(`["'\`](?:[A-Z]\\d+, )*${rule}(?:, [A-Z]\\d+)*: `, "g"))].length,
    ).toBeGreaterThan(1);
  const guide = read("docs/guide/access/security.md");
  for (const word of ["tokens", "allow", "file_roots", "pins", "rate"]) expect(guide).toContain(word);
});

test("G80: a rule that the documents do not contain has no row", () => {
  expect(ROWS.map(({ id }) => id)).not.toContain("S19");
});

test("G90: the official suites and the benchmarks have a command each", () => {
  const { scripts } = JSON.parse(read("package.json")) as { scripts: Record<string, string> };
  for (const name of ["conformance", "bench", "soak"]) {
    const [, place = ""] = /node ((?:scripts|bench)\/\S+)$/.exec(scripts[name] ?? "") ?? [];
    expect(existsSync(join(ROOT, place)), name).toBe(true);
  }
});

test.each([
  ["what a row asks for", "test/documents"],
  ["the wire, by malformed input", "test/fuzz"],
  ["what breaks while it runs", "test/faults"],
  ["attacks", "test/security"],
  ["the loop of a model", "test/agent"],
  ["the services", "test/services"],
  ["models of GNN", "packages/gnn/test"],
  ["the command line", "test/cli"],
])("G90: %s has its suite, and CONTRIBUTING.md explains how to run it", (_what, folder) => {
  expect(titles(folder)).toMatch(/\btest(?:\.each\(|\()/);
  expect(read("CONTRIBUTING.md")).toContain("npm test");
});
