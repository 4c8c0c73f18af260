// A syntax error in one place is reported at that place, regardless of the surrounding text.
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { checkGnn } from "../src/checks/check.ts";
import { newModel, TEMPLATES, type TemplateName } from "../src/helpers/templates.ts";
import { fromData } from "../src/language/data.ts";
import type { Statement, Value } from "../src/language/model.ts";
import { parseGnn } from "../src/language/parse.ts";
import { printGnn } from "../src/language/print.ts";
import { Source, type Span } from "../src/language/source.ts";
import { file } from "./arbitrary.ts";

const RUNS = Number(process.env["GNN_RUNS"] ?? 150);

/** Replacement of a span, and the code of the diagnostic at that place. */
interface Spoil extends Span {
  readonly text: string;
  readonly code: string;
}

function spoils(statement: Statement): readonly Spoil[] {
  switch (statement.kind) {
    case "connection": {
      const [source] = statement.sources;
      const end = statement.sources.at(-1)!.span.to;
      return [
        { ...source!.span, text: "nobody_knows", code: "W002" },
        { from: end, to: end, text: "?", code: "E005" },
      ];
    }
    case "variable": {
      const { name, type, dimensions } = statement;
      return [
        { from: name.span.from, to: name.span.from, text: "?", code: "E006" },
        { ...dimensions[0]!.span, text: "0", code: "E012" },
        ...(type ? [{ ...type.span, text: "flot", code: "E010" }] : []),
      ];
    }
    case "assignment": {
      const at = firstNumber(statement.value);
      return at === undefined ? [] : [{ from: at, to: at, text: "?", code: "E007" }];
    }
    case "time":
      return statement.value ? [{ ...statement.value.span, text: "", code: "E014" }] : [];
    case "mapping":
      return [{ ...statement.term.span, text: "Nonsenseterm", code: "W008" }];
    case "parameter":
      return [{ from: statement.span.from, to: statement.span.to, text: "no value", code: "W006" }];
    default:
      return [];
  }
}

function firstNumber(value: Value): number | undefined {
  if (value.kind === "number") return value.at;
  if (value.kind !== "group") return undefined;
  for (const item of value.items) {
    const at = firstNumber(item);
    if (at !== undefined) return at;
  }
  return undefined;
}

/** Returns the lines of all diagnostics with the given code. */
function linesOf(text: string, code: string): readonly number[] {
  return checkGnn(text)
    .diagnostics.filter((diagnostic) => diagnostic.code === code)
    .map(({ start }) => start.line);
}

test("C40: reports a syntax error of any statement of any model in the line of the statement", () => {
  fc.assert(
    fc.property(file, fc.nat(), (data, choice) => {
      const text = printGnn(fromData(data));
      const all = parseGnn(text)
        .file.models.flatMap(({ sections }) => sections)
        .flatMap((section) => (section.kind === "statements" ? section.statements : []))
        .flatMap(spoils);
      fc.pre(all.length > 0);
      const { from, to, text: spoilt, code } = all[choice % all.length]!;
      const { line } = new Source(text).position(from);
      expect(linesOf(text.slice(0, from) + spoilt + text.slice(to), code), `${code} in ${line} of\n${text}`).toContain(
        line,
      );
    }),
    { numRuns: RUNS },
  );
});

const begun = fc
  .record({
    template: fc.constantFrom(...(Object.keys(TEMPLATES) as TemplateName[])),
    states: fc.integer({ min: 2, max: 5 }),
    observations: fc.integer({ min: 2, max: 5 }),
    actions: fc.integer({ min: 1, max: 3 }),
  })
  .map(({ template, ...sizes }) => newModel(template, { name: "Some model", ...sizes }));

/** Returns the text with the nth match of a pattern replaced, and the line of the match. */
function spoilt(text: string, pattern: RegExp, { nth, by }: { nth: number; by: (found: string) => string }) {
  const found = [...text.matchAll(pattern)];
  const { index, 0: words } = found[nth % found.length]!;
  const line = text.slice(0, index).split("\n").length;
  return { text: text.slice(0, index) + by(words) + text.slice(index + words.length), line, index };
}

describe("a valid model", () => {
  test("C40: a valid model has no diagnostic before the mutation", () => {
    fc.assert(
      fc.property(begun, (text) => {
        expect(checkGnn(text).diagnostics.filter(({ severity }) => severity !== "note")).toEqual([]);
      }),
      { numRuns: RUNS },
    );
  });

  test.each<[string, RegExp, (found: string) => string, string]>([
    [
      "a heading that is misspelt",
      /^## (?:Connections|Time|Footer)$/gm,
      (words) => words.replace("o", "oo").replace("Ti", "Tii"),
      "W005",
    ],
    ["a version that is unknown", /^GNN v1$/gm, () => "GNN v9", "W009"],
    ["a version that is none", /^GNN v1$/gm, () => "version one", "E009"],
    ["an identifier with spaces", /^Somemodel$/gm, () => "Some model", "E015"],
    ["a declaration that stands twice", /(?<=^D\[.*\n)s\[.*$/gm, () => "D[2,type=float]", "E004"],
  ])("C40: reports %s in the line that contains it", (_name, pattern, by, code) => {
    fc.assert(
      fc.property(begun, fc.nat(), (text, nth) => {
        const { text: wrong, line } = spoilt(text, pattern, { nth, by });
        expect(linesOf(wrong, code)).toEqual([line]);
      }),
      { numRuns: RUNS },
    );
  });

  test.each<[string, (found: string) => string, readonly string[]]>([
    ["a probability that is too high", (number) => String(Number(number) + 0.3), ["E011"]],
    ["a number that is missing", () => "", ["E002", "E007"]],
    ["a bracket in place of a number", () => "(", ["E007"]],
  ])("C40: reports %s in the value that contains it", (_name, by, codes) => {
    fc.assert(
      fc.property(begun, fc.nat(), (text, nth) => {
        const values = text.indexOf("\nA={");
        const preferences = text.indexOf("\nC={");
        const part = text.slice(values, preferences === -1 ? text.indexOf("\n## Time") : preferences);
        const wrong = spoilt(part, /\d+(?:\.\d+)?/g, { nth, by });
        // The lines from the value's name to its end.
        const at = values + wrong.index;
        const end = text.startsWith("={(", text.lastIndexOf("={", at)) ? at : text.indexOf("\n}", at) + 1;
        const last = text.slice(0, end).split("\n").length;
        const first = text.slice(0, text.lastIndexOf("={", at)).split("\n").length;
        const found = codes.flatMap((code) =>
          linesOf(text.slice(0, values) + wrong.text + text.slice(values + part.length), code),
        );
        expect(found.filter((line) => line >= first && line <= last)).not.toEqual([]);
        expect(found.filter((line) => line < first)).toEqual([]);
      }),
      { numRuns: RUNS },
    );
  });
});
