import { readFileSync } from "node:fs";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { checkGnn } from "../src/checks/check.ts";
import { ontologyReport } from "../src/checks/ontology.ts";
import { viewOf } from "../src/language/view.ts";
import type { ProfileName } from "../src/language/profiles.ts";
import { seedEraEstimates } from "../src/estimates/seed-era.ts";

function sample(name: string): string {
  return readFileSync(new URL(`../../../test/fixtures/gnn/${name}`, import.meta.url), "utf8");
}

const TWO_ROOM = sample("two_room.md");

/** Returns `code line:column` of each diagnostic. */
function places(text: string, profile: ProfileName = "default"): string[] {
  return checkGnn(text, { profile }).diagnostics.map(({ code, start }) => `${code} ${start.line}:${start.column}`);
}

/** Returns a complete model with the given lines in its sections. */
function model(parts: {
  readonly space?: string;
  readonly edges?: string;
  readonly values?: string;
  readonly more?: string;
}): string {
  return [
    "## GNNSection\nM\n## GNNVersionAndFlags\nGNN v1\n## ModelName\nM",
    `## StateSpaceBlock\n${parts.space ?? "s[2]\nA[2,2,default=eye]"}`,
    `## Connections\n${parts.edges ?? "s-A"}`,
    ...(parts.values === undefined ? [] : [`## InitialParameterization\n${parts.values}`]),
    ...(parts.more === undefined ? [] : [parts.more]),
  ].join("\n");
}

/** Returns the codes and messages of the diagnostics. */
function said(text: string, profile: ProfileName = "default"): string[] {
  return checkGnn(text, { profile }).diagnostics.map(({ code, message }) => `${code} ${message}`);
}

describe("# samples of the package", () => {
  test.each(["default", "strict-v1", "seed-era"] as const)(
    "C40: two_room.md is valid for the profile %s",
    (profile) => {
      expect(places(TWO_ROOM, profile)).toEqual([]);
    },
  );

  test("C40: the only finding in hard_syntax.md is that B has no value", () => {
    expect(said(sample("hard_syntax.md"))).toEqual(["N001 B has no numbers; programs made from the model need them."]);
  });

  test("C40: the profiles refuse the constructs of hard_syntax.md that their tools cannot read", () => {
    expect(places(sample("hard_syntax.md"), "strict-v1")).toEqual([
      "N001 12:1",
      "E015 14:1",
      "E005 17:1",
      "E005 18:1",
      "E005 19:1",
      "E005 20:1",
    ]);
    const seedEra = checkGnn(sample("hard_syntax.md"), { profile: "seed-era" });
    expect(seedEra.diagnostics.map(({ code }) => code)).toEqual(["E001", "E001", "N001", "E014", "W011"]);
  });

  test("estimates 108 bytes and the inference units for two_room.md by the rules of the 2025 type checker", () => {
    const [first] = checkGnn(TWO_ROOM).file.models;
    const { memory_estimate_kb, inference_estimate_units } = seedEraEstimates(viewOf(first!));
    expect(memory_estimate_kb).toBe(108 / 1024);
    const log = (elements: number): number => Math.log2(elements + 1);
    const floats = log(4) + log(8) + 5 * log(2) + log(2) - log(2) + log(1) + 0;
    const ints = 0.8 * (log(2) + 2 * log(1));
    expect(inference_estimate_units).toBeCloseTo(4 * 2.5 + 2.5 * (floats + ints) + 8 * 0.5 + 2.5 * 4.5, 10);
  });
});

describe("sections", () => {
  test("reports a text without any section as not GNN", () => {
    expect(said("# Notes\n\nNothing here.\n")).toEqual([
      "E013 The text contains no GNN section, such as ## StateSpaceBlock.",
    ]);
  });

  test("reports each missing section, and an empty section that requires content", () => {
    expect(said("## GNNSection\nM\n## ModelName\n# none\n## StateSpaceBlock\ns[1]\n").slice(0, 3)).toEqual([
      "E001 The section GNNVersionAndFlags is missing; it is required.",
      "E001 The section Connections is missing; it is required.",
      "E001 The section ModelName is empty.",
    ]);
  });

  test.each([
    ["GNN v1", []],
    ["GNN v1.1 strict", []],
    ["GNN v7", ["W009 4:1"]],
    ["version one", ["E009 4:1"]],
  ])("checks the version %s", (version, expected) => {
    expect(places(TWO_ROOM.replace("GNN v1", version).replace("# Two-room agent\n", ""))).toEqual(expected);
  });

  test("reads two sections of one name as one section, with a warning", () => {
    const text = model({ more: "## Connections\nA>s" });
    expect(said(text)).toEqual(["W004 The section Connections occurs twice; both are read as one section."]);
  });
});

describe("declarations", () => {
  test.each([
    ["s[2]\ns[3]\nA[2]", ["E004 9:1"]],
    ["s[2,type=flaot]\nA[2]", ["E010 8:10"]],
    ["s[n]\nA[2]", ["E012 8:3"]],
    ["s[0]\nA[2]", ["E012 8:3"]],
    ["s[A]\nA[s]", ["E012 8:3", "E012 9:3"]],
    ["s[2,default=unifrom]\nA[2]", ["E006 8:13"]],
    ["s[2]\nA[2]\nx[1]", ["W001 10:1"]],
    ["s[A]\nA[len(x)]\nx[3,2]", []],
  ])("checks the declaration %j", (space, expected) => {
    expect(places(model({ space })).filter((place) => !place.startsWith("N001"))).toEqual(expected);
  });

  test("accepts a name of ModelParameters as a length", () => {
    const more = "## ModelParameters\nn: 2\n";
    expect(said(model({ space: "s[n]\nA[n,n]", values: "A={(1,0),(0,1)}", more }))).toEqual([]);
    expect(said(model({ space: "s[n]\nA[n,n]", values: "A={(1,0,0)}", more }))).toEqual([
      "E002 The value of A is 1×3, but line 8 declares 2×2.".replace("line 8", "line 9"),
    ]);
    const list = "## ModelParameters\nm: [3]\n";
    expect(said(model({ space: "s[m]\nA[2,2]", values: "A={(1,0),(0,1)}", more: list }))).toEqual([
      "E012 The parameter m is not a whole number above 0, so it cannot be a dimension.",
    ]);
  });
});

describe("connections", () => {
  test("reports an undeclared endpoint, and suggests a similar name", () => {
    const { diagnostics } = checkGnn(model({ space: "state[2]\nA[2,2,default=eye]", edges: "stste-A" }));
    expect(diagnostics.map(({ code, mend }) => [code, mend])).toEqual([
      ["W001", undefined],
      ["W002", "Write state, or declare stste[…] in StateSpaceBlock."],
    ]);
  });

  test("accepts an endpoint at another time step if its variable is declared", () => {
    expect(said(model({ space: "s_t[2]\nA[2,2,default=eye]", edges: "s_t>s_t+1\ns-A" }))).toEqual([]);
  });

  test("reports too many edges of one model at the first excess edge, in `check` and in graphs", () => {
    const names = (letter: string) => Array.from({ length: 100 }, (_, at) => `${letter}${at}`).join(",");
    const group = (at: number) => `(${names(`a${at}_`)})>(${names("b")})`;
    const text = (count: number) =>
      `## GNNSection\nBig\n## Connections\n${Array.from({ length: count }, (_, at) => group(at)).join("\n")}`;
    expect(places(text(21))).toContain("E008 24:1");
    expect(said(text(21)).join("\n")).toContain("more than 200000 edges; from here on, edges are not in any graph");
    expect(said(text(20)).join("\n")).not.toContain("not in any graph");
  });

  test("reports a duplicate edge, and unconnected parts of the graph", () => {
    expect(said(model({ edges: "s-A\nA-s" }))).toEqual(["W007 The edge A-s is a duplicate."]);
    expect(said(model({ space: "s[2]\nA[2,2,default=eye]\nx[1]\ny[1]", edges: "s-A\nx-y" }))).toEqual([
      "N004 The graph has 2 parts that no edge connects: {s, A}, {x, y}.",
    ]);
    expect(said(model({ space: "s[2]\ns_prime[2]\nA[2,2,default=eye]\nu[1]", edges: "s-A\nu>s_prime" }))).toEqual([]);
  });
});

test("checks a model whose matrices have words in their names like a model with numbered matrices", () => {
  const codes = (space: string, values: string): string[] =>
    places(model({ space, values })).filter((place) => place.startsWith("E011"));
  const [cue, place] = ["A_cue={(1,0),(0,1)}", "B_place={((1,0),(0,0)),((0,1),(1,0))}"];
  expect(codes("A_cue[2,2]\nB_place[2,2,2]", `${cue}\n${place}`)).toHaveLength(1);
  expect(codes("A_cue[2,2]\nB_place[2,2]\nD_place[2]", `${cue}\nB_place={(1,0),(0,1)}\nD_place={(1,1)}`)).toHaveLength(
    1,
  );
  expect(codes("A[2,2]\nB[2,2]\nA_cue[2,2]\nD_gain[1]", "A_cue={(1,0),(2,0)}\nD_gain={(3)}")).toEqual([]);
});

describe("values", () => {
  const b = (values: string, space = "s[2]\nB[2,2,3]"): string[] => said(model({ space, edges: "s-B", values }));

  test.each([
    ["D[2]", "D={(0.5, 0.5)}", []],
    ["D[2]", "D={(0.5),(0.5)}", []],
    ["D[2,1]", "D={0.5, 0.5}", []],
    ["D[3]", "D={(0.33, 0.33, 0.33)}", []],
    ["D[2]", "D={(0.5, 0.4)}", ["E011"]],
    ["D[2]", "D={(1.5, -0.5)}", ["E011"]],
    ["D[2]", "D={(0.2, 0.3, 0.5)}", ["E002"]],
    ["D[2]", "D={(0.5, (0.5))}", ["E007"]],
    ["D[2]", "D={ }", ["N001"]],
    ["D[2]", "D=uniform", []],
    ["D[2]", "D=unknown", ["E007"]],
    ["x[2,type=int]", "x={1, 0.5}", ["E010"]],
    ["x[2,type=bool]", "x={1, 0}", []],
  ])("compares the declaration %s with the value %s", (variable, values, expected) => {
    const name = variable[0]!;
    const { diagnostics } = checkGnn(model({ space: `s[2]\n${variable}`, edges: `s-${name}`, values }));
    expect(diagnostics.map(({ code }) => code).toSorted()).toEqual(expected);
  });

  test("reports a likelihood with rows, not columns, that sum to 1 as transposed", () => {
    expect(said(model({ values: "A={(0.9,0.1),(0.1,0.9)}" }))).toEqual([]);
    expect(said(model({ values: "A={(0.9,0.1),(0.2,0.8)}" }))).toEqual([
      "W012 The rows of A sum to 1 and its columns do not, so it is read as state × observation.",
    ]);
    expect(said(model({ values: "A={(0.9,0.1),(0.2,0.7)}" }))).toEqual([
      "E011 The columns of A are not probabilities: read as state × observation, the worst one sums to 0.9.",
    ]);
  });

  test("detects the axis order of transitions, and reports it", () => {
    expect(b("B={((1,0,0.2),(0.5,1,1)),((0,1,0.8),(0.5,0,0))}")).toEqual([]);
    expect(b("B={((1,0.5),(0,0.5)),((0,1),(1,0)),((0.2,1),(0.8,0))}")).toEqual([
      "N006 B is read as action × next × previous, because its columns then sum to 1.",
    ]);
    expect(b("B={((1,0),(0.5,0.5)),((0,1),(1,0)),((0.2,0.8),(1,0))}")).toEqual([
      "N006 B is read as action × previous × next, because its columns then sum to 1.",
    ]);
    expect(b("B={((1,0),(0.5,0.6)),((0,1),(1,0)),((0.2,0.8),(1,0))}")[0]).toMatch(
      /^E011 .*action × previous × next.* 1\.1\.$/,
    );
  });

  test("reads transitions that fit two axis orders in the declared order, and reports the other", () => {
    const space = "s[2]\nB[2,2,2]";
    expect(b("B={((1,1),(0,0)),((0,0),(1,1))}", space)).toEqual([
      "N002 B is read as next × previous × action; action × next × previous would also fit.",
    ]);
  });

  test("F, H, Q and R belong to a linear-Gaussian model, regardless of the declaration of F", () => {
    const values = "F={(1,0),(0,1)}\nH={(1,0),(0,1)}\nQ={(1,0),(0,1)}\nR={(1,0),(0,1)}";
    const text = model({ space: "s[2]\nA[2,2,default=eye]\nF[1]", edges: "s-A\ns-F", values });
    expect(checkGnn(text).diagnostics.map(({ code }) => code)).toEqual(["N003", "N003", "N003", "N003"]);
    expect(said(model({ values: "H={(1,0)}" }))).toEqual([
      "W003 H has a value, but is not declared in StateSpaceBlock.",
    ]);
  });
});

describe("time and ontology", () => {
  test.each([
    ["Dynamic\nDiscreteTime=s\nModelTimeHorizon=20", []],
    ["Static\nDynamic", ["E014 12:1"]],
    ["Dynamc", ["E014 11:1"]],
    ["Time=τ", ["W011 11:6"]],
    ["ModelTimeHorizon=soon", ["E014 11:18"]],
    ["ModelTimeHorizon", ["E014 11:1"]],
  ])("checks the setting %j", (time, expected) => {
    expect(places(model({ more: `## Time\n${time}` })).map((place) => place)).toEqual(
      expected.map((place) => place.replace(/ (\d+)/, (_, line) => ` ${Number(line) + 2}`)),
    );
  });

  test("reports an unknown ontology term, and suggests the similar one", () => {
    const { diagnostics, file } = checkGnn(
      model({ more: "## ActInfOntologyAnnotation\ns=HidenState\nx=Action\nA=Habit\n" }),
    );
    expect(diagnostics.map(({ code, mend }) => [code, mend])).toEqual([
      ["W008", "Write HiddenState."],
      ["W010", undefined],
    ]);
    expect(ontologyReport(viewOf(file.models[0]!))).toEqual({
      valid_mappings: { x: "Action", A: "Habit" },
      invalid_terms: { s: "HidenState" },
      unmapped_model_vars: [],
    });
  });
});

describe("mutations", () => {
  const lines = TWO_ROOM.trimEnd().split("\n");

  test("reports a syntax error in the line that contains it", () => {
    const spoil: readonly (readonly [string, RegExp, (line: string) => string])[] = [
      ["E006", /^\w+\[.*\]/, (line) => line.replace("]", "")],
      ["E010", /type=float/, (line) => line.replace("float", "flat")],
      ["E012", /^[A-D]\[2/, (line) => line.replace("[2", "[0")],
      ["E005", /^\w[>-]\w$/, (line) => line.replace(/[>-]/, "?")],
      ["E007", /^ {2}\(.*\)/, (line) => line.replace(",", " ")],
      ["E014", /^ModelTimeHorizon=/, (line) => line.replace("Unbounded", "never")],
      ["W008", /^\w=\w+[a-z]$/, (line) => `${line}Xyz`],
    ];
    for (const [code, fits, change] of spoil)
      for (const [index, line] of lines.entries()) {
        if (!fits.test(line)) continue;
        const { diagnostics } = checkGnn(lines.with(index, change(line)).join("\n"));
        expect(
          diagnostics.some((one) => one.code === code && one.start.line === index + 1),
          `${code} ${line}`,
        ).toBe(true);
      }
  });

  test("`check` does not throw after any deletion, insertion or duplication, and its positions are in the text", () => {
    const change = fc.record({
      at: fc.nat({ max: TWO_ROOM.length }),
      cut: fc.nat({ max: 40 }),
      put: fc.oneof(fc.string({ maxLength: 5 }), fc.constantFrom("{", "(", "\n## Time\n", "---\n", "#", "π[")),
    });
    fc.assert(
      fc.property(change, ({ at, cut, put }) => {
        const text = TWO_ROOM.slice(0, at) + put + TWO_ROOM.slice(at + cut);
        const rows = text.split(/\r\n|\n|\r/);
        for (const { start, end, message } of checkGnn(text).diagnostics) {
          expect(rows[start.line - 1], message).toBeDefined();
          expect(start.column).toBeLessThanOrEqual(rows[start.line - 1]!.length + 1);
          expect(end.line).toBeGreaterThanOrEqual(start.line);
        }
      }),
      { numRuns: Number(process.env["GNN_RUNS"] ?? 300) },
    );
  });

  test("S18: checks a large model of hostile shape in linear time", () => {
    const cost = (count: number): number => {
      const names = Array.from({ length: count }, (_, index) => `n${index}`);
      const text = model({
        space: names.map((name, index) => `${name}[${names[index - 1] ?? 2}]`).join("\n"),
        edges: names.map((name) => `${name}>x${name}`).join("\n"),
        values: names.map((name) => `${name}={(1,2)}`).join("\n"),
      });
      const before = process.cpuUsage();
      checkGnn(text);
      const { user, system } = process.cpuUsage(before);
      return (user + system) / 1000;
    };
    cost(200);
    expect(cost(4000)).toBeLessThan(Math.max(cost(500), 10) * 40);
  });
});

describe("reports a beginner's mistake once, with the text to write", () => {
  const told = (text: string): string[] =>
    checkGnn(text).diagnostics.map(({ code, message, mend }) => `${code} ${message}${mend ? ` ${mend}` : ""}`);

  test("suggests the right number of # in a heading if the section is missing", () => {
    const text = model({}).replace("## Connections", "### Connections");
    expect(told(text)).toContain(
      "E001 The section Connections is missing; it is required. Write ## Connections in line 10, which has 3 #.",
    );
    expect(places(model({ space: "# Connections\ns[2]\nA[2,2,default=eye]" }))).toEqual([]);
  });

  test("reports a missing StateSpaceBlock once, and not each undeclared name", () => {
    const text = model({ values: "D={(0.5,0.5)}", more: "## ActInfOntologyAnnotation\ns=HiddenState" });
    expect(said(text.replace("## StateSpaceBlock\n", ""))).toEqual([
      "E001 The section StateSpaceBlock is missing; it is required.",
    ]);
    expect(said(text).map((words) => words.slice(0, 6))).toEqual(["W003 D"]);
  });

  test.each([
    ["D={(50%, 50%)}", ['"%" is not a number, word or text.', '"%" is not a number, word or text.']],
    ["D={(0,5; 0,5)}", ['";" is not a number, word or text.']],
    ["D={(0.5 0.5)}", ["A comma is missing between two values. Put a comma between them."]],
    ["D={(0.5, much)}", ['The value of D is not a tensor. A number is expected, not "much".']],
  ])("suggests the correction: %s", (values, expected) => {
    const text = model({ space: "s[2]\nD[2]", edges: "D>s", values });
    expect(told(text)).toEqual(expected.map((message) => `E007 ${message}`));
  });

  test("reports numbers that are not probabilities, even if their sums are 1", () => {
    expect(told(model({ values: "A={(1.2,0.2),(-0.2,0.8)}" }))).toEqual([
      "E011 A contains numbers that are not probabilities, such as 1.2. " +
        "Each column must have numbers from 0 to 1 that sum to 1.",
    ]);
  });

  test("reports a matrix that is transposed against its declaration", () => {
    const wrong = model({ space: "s[2]\nA[3,2]", values: "A={(0.8,0.1,0.1),(0.2,0.2,0.6)}" });
    expect(told(wrong)).toEqual([
      "E002 The value of A is 2×3, but line 9 declares 3×2. It is transposed: write 3 rows of 2, or change line 9.",
    ]);
  });

  test.each([
    ["o(2,1)", 'E006 "(2,1)" is not part of the declaration and is ignored. Write o[2,1].'],
    ["o[1,int]", "E012 int is a type, but a length is expected. Write type=int."],
    ["- o[2]", 'E006 "- o[2]" does not begin with the name of a variable. Remove the - before it.'],
    ["```", 'E006 "```" does not begin with the name of a variable. Remove the line: sections need no fences.'],
  ])("suggests the correction for the declaration %s", (line, expected) => {
    expect(told(model({ space: `s[2]\nA[2,2,default=eye]\n${line}`, edges: "s-A\ns-o" }))).toContain(expected);
  });

  test.each([
    ["* s-A", 'E005 "* s-A" does not begin with a name. Remove the * before it.'],
    ["s => A", 'E005 "=> A" does not begin with > or -. Write one connection per line: a>b, a-b, or (a,b)>c.'],
  ])("suggests the correction for the connection %s", (line, expected) => {
    expect(told(model({ edges: `s-A\n${line}` }))).toEqual([expected]);
  });
});
