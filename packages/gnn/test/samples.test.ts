// The sample models of the public project. Their licence keeps them out of this repository: GNN_SAMPLES names a copy.
import { readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { expect, test } from "vitest";
import { checkGnn } from "../src/checks/check.ts";
import { toData } from "../src/language/data.ts";
import { UNREAD_CODES } from "../src/language/diagnostics.ts";
import { parseGnn } from "../src/language/parse.ts";
import { printGnn } from "../src/language/print.ts";
import { ProgramError } from "../src/programs/program-error.ts";
import type { Program } from "../src/programs/program.ts";
import { readPrograms } from "../src/programs/read-programs.ts";
import { RENDER_TARGETS, renderProgram, type RenderTargetName } from "../src/render/targets.ts";
import { simulate } from "../src/simulate/simulate.ts";
import { drawGnn } from "../src/pictures/draw.ts";

const FOLDER = process.env["GNN_SAMPLES"] ?? "";
const NO_SAMPLES = "GNN_SAMPLES names no folder";

/** Returns the files below a folder that contain a model. */
function samplesIn(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(".md"))
    .map(({ parentPath, name }) => join(parentPath, name))
    .filter((path) => /^## *StateSpaceBlock/m.test(readFileSync(path, "utf8")))
    .toSorted();
}

/**
 * Rows of the table in test/RESULTS.md by file: the number of each code, the result of the run and the rendered
 * targets.
 */
function tabled(): ReadonlyMap<string, readonly string[]> {
  const text = readFileSync(new URL("../../../test/RESULTS.md", import.meta.url), "utf8");
  const rows = text.matchAll(/^\| `([^`|]+\.md)` +\|(.*)\|$/gm);
  return new Map(Array.from(rows, ([, file, cells]) => [file!, cells!.split("|").map((cell) => cell.trim())]));
}

/** Returns the result of three steps of a text, and the targets that cannot express it. */
async function outcomeOf(text: string): Promise<readonly [string, string]> {
  const read = (): Program => readPrograms(parseGnn(text).file)[0]!.program;
  const unread = await refusedBy(read);
  if (unread !== undefined) return [unread, unread];
  const program = read();
  const refused: string[] = [];
  for (const target of Object.keys(RENDER_TARGETS) as RenderTargetName[])
    if ((await refusedBy(() => renderProgram(program, target))) !== undefined) refused.push(target);
  const run = await refusedBy(async () => expect((await simulate(program, { steps: 3 })).steps).toBe(3));
  return [run ?? "runs", refused.length === 0 ? "all" : `not ${refused.join(", ")}`];
}

/** Returns the message of the error that some work throws, if any. */
async function refusedBy(work: () => unknown): Promise<string | undefined> {
  try {
    await work();
    return undefined;
  } catch (error) {
    return refusalOf(error);
  }
}

/** Returns the construct that a refusal names; any other error is thrown. */
function refusalOf(error: unknown): string {
  if (error instanceof ProgramError) return `refused: \`${error.construct}\``;
  throw error;
}

function codesOf(text: string): string {
  const counts = new Map<string, number>();
  for (const { code } of checkGnn(text).diagnostics) counts.set(code, (counts.get(code) ?? 0) + 1);
  const sorted = [...counts].toSorted(([one], [other]) => (one < other ? -1 : 1));
  return sorted.map(([code, count]) => (count === 1 ? code : `${count} ${code}`)).join(", ");
}

test("C40: reads every line of every public sample, and printing changes no model", async ({ skip }) => {
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

test("C40: the findings in the public samples match the table checked by hand", ({ skip }) => {
  skip(FOLDER === "", NO_SAMPLES);
  const table = tabled();
  for (const path of samplesIn(join(FOLDER, "input"))) {
    const name = relative(FOLDER, path).replaceAll("\\", "/");
    expect([name, codesOf(readFileSync(path, "utf8"))]).toEqual([name, table.get(name)?.[0]]);
  }
});

test("C40: each public sample runs and is rendered, or is refused with the reason", async ({ skip }) => {
  skip(FOLDER === "", NO_SAMPLES);
  const table = tabled();
  for (const path of samplesIn(join(FOLDER, "input"))) {
    const name = relative(FOLDER, path).replaceAll("\\", "/");
    expect([name, ...(await outcomeOf(readFileSync(path, "utf8")))]).toEqual([name, ...table.get(name)!.slice(3, 5)]);
  }
});
