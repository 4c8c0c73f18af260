import { readFileSync } from "node:fs";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { fromData, toData } from "../src/language/data.ts";
import { parseGnn } from "../src/language/parse.ts";
import { printGnn } from "../src/language/print.ts";
import { file } from "./arbitrary.ts";

const RUNS = Number(process.env["GNN_RUNS"] ?? 150);

describe("round trip", () => {
  test("C40: any model reads back unchanged from its printed form", () => {
    fc.assert(
      fc.property(file, (data) => {
        const { file: read, diagnostics } = parseGnn(printGnn(fromData(data)));
        expect(toData(read)).toEqual(data);
        expect(diagnostics.filter(({ code }) => !["N005", "W007"].includes(code))).toEqual([]);
      }),
      { numRuns: RUNS },
    );
  });

  test("any model reads back unchanged from CSV", () => {
    fc.assert(
      fc.property(file, ({ models }) => {
        const [first] = models;
        const sections = first!.sections.filter(({ name }) => name !== "AgentSettings");
        const data = { form: "csv", models: [{ header: ["# title"], sections }] } as const;
        expect(toData(parseGnn(printGnn(fromData(data))).file)).toEqual(data);
      }),
      { numRuns: RUNS },
    );
  });

  test("formatting a formatted text changes nothing, and its JSON form contains the whole model", () => {
    fc.assert(
      fc.property(file, (data) => {
        const printed = printGnn(fromData(data));
        const { file: read } = parseGnn(printed);
        expect(printGnn(read)).toBe(printed);
        expect(printGnn(fromData(JSON.parse(JSON.stringify(toData(read)))))).toBe(printed.replaceAll("\r", ""));
      }),
      { numRuns: RUNS },
    );
  });

  test.each(["two_room.md", "hard_syntax.md"])("%s keeps its comments, numbers and order", (name) => {
    const text = readFileSync(new URL(`../../../test/fixtures/gnn/${name}`, import.meta.url), "utf8");
    const printed = printGnn(parseGnn(text).file);
    expect(toData(parseGnn(printed).file)).toEqual(toData(parseGnn(text).file));
    for (const comment of text.matchAll(/#.*$/gm)) expect(printed).toContain(comment[0].trim());
    for (const number of text.matchAll(/\d+\.\d+/g)) expect(printed).toContain(number[0]);
  });

  test("comments inside a value stay next to their rows", () => {
    const text =
      "## InitialParameterization\nA={ # rows\n  (1, 0), # first\n  # the other\n  (0, 1) # last\n}  # whole\n";
    expect(printGnn(parseGnn(text).file)).toBe(
      "## InitialParameterization\nA={\n  # rows\n  (1, 0),  # first\n  # the other\n  (0, 1)  # last\n}  # whole\n",
    );
  });

  test("keeps an unreadable line unchanged", () => {
    const text = "## Connections\na>b\n?? what\n";
    expect(printGnn(parseGnn(text).file)).toBe(text);
  });

  test("formats every kind of spacing in the same way", () => {
    const spaced = "##  Connections\r\n ( a ,b )  ->  c : why = 1   # x\r\n\r\n\r\n  d  -  e\r\n";
    expect(printGnn(parseGnn(spaced).file)).toBe("## Connections\n(a,b)>c:why=1  # x\n\nd-e\n");
  });
});
