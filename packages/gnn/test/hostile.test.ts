import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { checkGnn } from "../src/checks/check.ts";
import { parseGnn } from "../src/language/parse.ts";
import { printGnn } from "../src/language/print.ts";
import { dimensionOf } from "../src/language/names.ts";
import { viewOf } from "../src/language/view.ts";
import { roleOf } from "../src/pictures/roles.ts";
import { ProgramError } from "../src/programs/program-error.ts";
import { readProgram } from "../src/programs/read-program.ts";
import { LIMITS } from "../src/language/limits.ts";
import { MAX_DIAGNOSTICS } from "../src/language/diagnostics.ts";

/** Returns the CPU time of this process for some work, in milliseconds. */
function costOf(work: () => unknown): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

/** Measures the cost of reading and checking a text. */
function cost(text: string): number {
  return costOf(() => checkGnn(text));
}

/** Returns the program of the only model of a text, or the reason why there is none. */
function programOf(text: string): unknown {
  try {
    return readProgram(viewOf(parseGnn(text).file.models[0]!));
  } catch (error) {
    if (error instanceof ProgramError) return error;
    throw error;
  }
}

const HEADS = ["## InitialParameterization\n", "## Connections\n", "## StateSpaceBlock\n", "## ModelAnnotation\n", ""];
const UNITS = ["{", "a={\n", "a={(1,\n", "(a,", "((", '"\\', '" ', "'", "1 ", "a", "a\n", "---\n", "```\n", "## x\n"];
const MORE = ["## GNNSection\n", "#", ",", "a[", "a>", "=", "\r", " ", "[1,2],", "1e", "inf", "π_t+1"];

describe("hostile text", () => {
  test.each([...UNITS, ...MORE])("S18: repeating %j takes no more than linear time", (unit) => {
    for (const head of HEADS) {
      const text = (length: number): string => head + unit.repeat(Math.ceil(length / unit.length));
      cost(text(10_000));
      const small = Math.max(cost(text(30_000)), 4);
      // The text is eight times as long. Quadratic work would take 64 times as long.
      expect(cost(text(240_000)), `${JSON.stringify(head)} ${small} ms`).toBeLessThan(small * 40);
    }
  });

  const DECLARED = "## GNNSection\nBig\n## StateSpaceBlock\n";
  const lines = (count: number, line: (index: number) => string): string =>
    Array.from({ length: count }, (_, index) => line(index)).join("\n");

  test.each<[string, (count: number) => string]>([
    ["a chain of edges", (count) => `## Connections\n${lines(count, (index) => `x${index}>x${index + 1}`)}`],
    ["edges from one node", (count) => `## Connections\n${lines(count, (index) => `x>y${index}`)}`],
    [
      "names that nobody declares",
      (count) =>
        `${DECLARED}${lines(count, (index) => `name${index}[2]`)}\n## InitialParameterization\n` +
        lines(count, (index) => `nome${index}={(1,0)}`),
    ],
    ["lengths that nobody knows", (count) => DECLARED + lines(count, (index) => `name${index}[size${index}]`)],
    ["lengths that hang on one another", (count) => DECLARED + lines(count, (index) => `x${index}[x${index + 1}]`)],
    ["headings that name no section", (count) => lines(count, (index) => `## Section${index}`)],
    ["blank lines in a text", (count) => `## AgentSettings\nx${"\n".repeat(count * 10)}x`],
    ["signs of a heading in front of two words", (count) => `## GNNSection\nBig\n${"#".repeat(count)} x y`],
    ["spaces in a length that is never closed", (count) => `${DECLARED}x[len(a${" ".repeat(count)}b`],
    [
      "times that nobody declares",
      (count) => `${DECLARED}${lines(count, (index) => `name${index}[2]`)}\n## Time\n${"Time=q\n".repeat(count)}`,
    ],
    [
      "horizons that nobody knows",
      (count) =>
        `## ModelParameters\n${lines(count, (index) => `size${index}: 2`)}\n## Time\n` +
        "ModelTimeHorizon=q\n".repeat(count),
    ],
  ])("S18: checks take no more than linear time: %s", (_name, text) => {
    cost(text(300));
    const small = Math.max(cost(text(1_500)), 8);
    // The text is eight times as long. Quadratic work would take 64 times as long.
    expect(cost(text(12_000)), `${small} ms`).toBeLessThan(small * 30);
  });

  test.each<[string, (count: number) => unknown]>([
    ["a length in JSON", (count) => dimensionOf(`len(${" ".repeat(count / 8)}x`, 0)],
    ["the number behind a name", (count) => roleOf({ name: `x${"_1".repeat(count)}x`, ontology: "" })],
    [
      "modalities that are words",
      (count) => programOf(DECLARED + lines(2 * count, (index) => `A_place${index}x[2,2,default=uniform]`)),
    ],
  ])("S18: the output of a model is computed in linear time: %s", (_name, work) => {
    costOf(() => work(1_600));
    const small = Math.max(
      costOf(() => work(1_600)),
      4,
    );
    expect(
      costOf(() => work(12_800)),
      `${small} ms`,
    ).toBeLessThan(small * 30);
  });

  test("refuses a text above the size limit, and reads one below it", () => {
    const over = parseGnn("x".repeat(LIMITS.characters + 1));
    expect(over.diagnostics).toMatchObject([{ code: "E008", message: /at most 16777216/ }]);
    expect(parseGnn(`# ${"x".repeat(1_000_000)}`).diagnostics).toEqual([]);
  });

  test("lists a thousand diagnostics, and counts the others", () => {
    const { diagnostics } = parseGnn(`## Connections\n${"?\n".repeat(3000)}`);
    expect(diagnostics).toHaveLength(MAX_DIAGNOSTICS + 1);
    expect(diagnostics.at(-1)).toMatchObject({ code: "E008", message: /^2000 further/ });
  });

  test("reads any text, and formatting its formatted form changes nothing", () => {
    const piece = fc.constantFrom(
      ...UNITS,
      ...MORE,
      ...HEADS,
      "A={(1,2)}\n",
      "a>b",
      "\n",
      "a[2]",
      "x: 1",
      " # c",
      "GNNSection,",
    );
    fc.assert(
      fc.property(fc.array(fc.oneof(piece, fc.string({ maxLength: 5 })), { maxLength: 40 }), (pieces) => {
        const printed = printGnn(parseGnn(pieces.join("")).file);
        const again = printGnn(parseGnn(printed).file);
        expect(printGnn(parseGnn(again).file)).toBe(again);
      }),
      { numRuns: Number(process.env["GNN_RUNS"] ?? 300) },
    );
  });
});
