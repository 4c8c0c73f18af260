import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { parseGnn } from "../src/language/parse.ts";
import { toModelData, toValueData } from "../src/language/data.ts";
import { edgesOf, timeOf, viewOf, type ModelView } from "../src/language/view.ts";
import type { ProfileName } from "../src/language/profiles.ts";

function sample(name: string): string {
  return readFileSync(new URL(`../../../test/fixtures/gnn/${name}`, import.meta.url), "utf8");
}

function view(text: string): ModelView {
  return viewOf(parseGnn(text).file.models[0]!);
}

/** Returns `code line:column` of each diagnostic. */
function places(text: string, profile: ProfileName = "default"): string[] {
  return parseGnn(text, { profile }).diagnostics.map(({ code, start }) => `${code} ${start.line}:${start.column}`);
}

function edges(text: string): string[] {
  return edgesOf(view(`## Connections\n${text}`)).edges.map(
    ({ source, target, directed, label, constraint }) =>
      `${source}${directed ? ">" : "-"}${target}${label ? `:${label}` : ""}${constraint ? `=${constraint}` : ""}`,
  );
}

function value(text: string): unknown {
  const [found] = view(`## InitialParameterization\n${text}`).values;
  return found && toValueData(found.value);
}

describe("# samples of the package", () => {
  test("C40: two_room.md has 11 variables, 8 edges, 4 values and no findings", () => {
    const { file, diagnostics } = parseGnn(sample("two_room.md"));
    const model = viewOf(file.models[0]!);
    expect(diagnostics).toEqual([]);
    expect(model.variables.map(({ name }) => name.text)).toEqual([..."ABCDs", "s_prime", ..."oπuGt"]);
    expect(edgesOf(model).edges).toHaveLength(8);
    expect(model.values).toHaveLength(4);
    expect(model).toMatchObject({ identifier: "TwoRoomAgent", version: "GNN v1", name: "Two-Room Agent" });
    expect(timeOf(model)).toEqual({ kind: "Dynamic", domain: "Discrete", variable: "t", horizon: "Unbounded" });
  });

  test("C40: hard_syntax.md has 6 variables and 6 edges, including a group", () => {
    const { file, diagnostics } = parseGnn(sample("hard_syntax.md"));
    const model = viewOf(file.models[0]!);
    expect(diagnostics).toEqual([]);
    expect(model.variables.map(({ name }) => name.text)).toEqual(["s_t", "o_t", "A", "B", "D", "γ"]);
    expect(edgesOf(model).edges.map(({ source, target }) => [source, target])).toEqual([
      ["D", "s_t"],
      ["s_t", "o_t"],
      ["A", "o_t"],
      ["B", "s_t+1"],
      ["γ", "A"],
      ["s_t", "B"],
    ]);
  });
});

describe("declarations", () => {
  test("accepts numbers, parameters, variables and lengths as dimensions", () => {
    const [model] = parseGnn("## StateSpaceBlock\nB[2,num_states, π,len( π ),type=float,default=uniform] # next\n").file
      .models;
    expect(toModelData(model!).sections[0]).toEqual({
      name: "StateSpaceBlock",
      statements: [
        {
          kind: "variable",
          name: "B",
          dimensions: [2, "num_states", "π", "len(π)"],
          type: "float",
          default: "uniform",
          options: [],
          comment: "# next",
        },
      ],
    });
  });

  test.each(["π=[2]", "s'[2]", "s_t+1[2,type=int]", "X^Y[3]", "状態[2]"])("accepts the declaration %s", (text) => {
    expect(places(`## StateSpaceBlock\n${text}`)).toEqual([]);
  });

  test.each([
    ["?[2]", "E006 2:1"],
    ["A[2", "E006 2:1"],
    ["A", "E012 2:1"],
    ["A[2] B[3]", "E006 2:6"],
    ["A[2,type=]", "E006 2:5"],
    ["A[2,type=int,type=int]", "W007 2:14"],
  ])("refuses %s at the position of the error", (text, place) => {
    expect(places(`## StateSpaceBlock\n${text}`)).toEqual([place]);
  });
});

describe("connections", () => {
  test.each([
    ["a>b", ["a>b"]],
    ["a - b", ["a-b"]],
    ["a->b", ["a>b"]],
    ["a→b", ["a>b"]],
    ["(a, b)>(c,d)", ["a>c", "a>d", "b>c", "b>d"]],
    ["s_t>s_t+1", ["s_t>s_t+1"]],
    ["s_t-1>s_t", ["s_t-1>s_t"]],
    ["s_t-A", ["s_t-A"]],
    ["γ>A:precision", ["γ>A:precision"]],
    ["a>b:why=2  # because", ["a>b:why=2"]],
  ])("accepts the connection %s", (text, expected) => {
    expect(edges(text)).toEqual(expected);
    expect(places(`## Connections\n${text}`)).toEqual([]);
  });

  test.each(["a", "a>", ">b", "a>b>c", "(a>b", "a<b", "a>b c", "()>a", "a=b", "a>b:"])(
    "refuses the connection %s",
    (text) => {
      expect(places(`## Connections\n  ${text}`)).toEqual(["E005 2:3"]);
    },
  );

  test("the strict profile accepts only the published grammar", () => {
    expect(places("## Connections\nA>π:go\nA-s'", "strict-v1")).toEqual([]);
    expect(places("## Connections\n(a,b)>c\nγ>A\na->b\na>s_t+1\na>b=1", "strict-v1")).toEqual(
      [2, 3, 4, 5, 6].map((line) => `E005 ${line}:1`),
    );
  });

  test("refuses groups that expand to too many edges", () => {
    const names = Array.from({ length: 101 }, (_, index) => `n${index}`).join(",");
    expect(places(`## Connections\n(${names})>(${names})`)).toEqual(["E008 2:1"]);
  });
});

describe("values", () => {
  test.each([
    [
      "A={(0.5, 1),(2,3)}",
      [
        [0.5, 1],
        [2, 3],
      ],
    ],
    [
      "A={\n (1,2), # one\n # two\n (3,4)\n}",
      [
        [1, 2],
        [3, 4],
      ],
    ],
    [
      "A=[[1,2],[3,4]]",
      [
        [1, 2],
        [3, 4],
      ],
    ],
    ["A={(1),(2)}", [[1], [2]]],
    ["A=5", 5],
    ["A={-1e-3, +2, .5, 3.}", [-0.001, 2, 0.5, 3]],
    ["A={1/3}", [1 / 3]],
    ["A={-inf}", [{ number: "-inf" }]],
    ["A={ }", []],
    ["A=\n{(1)}", [[1]]],
    ["A{1}", [1]],
    ["A=eye", { word: "eye" }],
    ['A={"description": "all alike"}', [{ entries: [{ key: "description", value: { text: "all alike" } }] }]],
  ])("accepts the value %s", (text, expected) => {
    expect(value(text)).toEqual(expected);
    expect(places(`## InitialParameterization\n${text}`)).toEqual([]);
  });

  test.each([
    ["A={(1,2}", "E007 2:4"],
    ["A={(1,2)", "E007 2:3"],
    ["A={1 2}", "E007 2:6"],
    ["A={1,,2}", "E007 2:6"],
    ["A={1e999}", "E007 2:4"],
    ["A={__import__('os')}", "E007 2:14"],
    ["A={1} x", "E007 2:6"],
    ["A={1/0}", "E007 2:4"],
    ["nothing", "E007 2:1"],
  ])("refuses %s at the position of the error", (text, place) => {
    expect(places(`## InitialParameterization\n${text}`)[0]).toBe(place);
  });

  test("an unclosed bracket makes its own value unreadable, but not the next one", () => {
    const text = "## InitialParameterization\nA={(1,2),\n(3,4)\nB={(5)}\n";
    expect(places(text)).toEqual(["E007 2:3"]);
    expect(view(text).values.map(({ name }) => name.text)).toEqual(["A", "B"]);
  });

  test("S16: reads a value as a literal, and refuses 33 nested brackets", () => {
    expect(places(`## InitialParameterization\nA=${"(".repeat(32)}1${")".repeat(32)}`)).toEqual([]);
    expect(places(`## InitialParameterization\nA=${"(".repeat(33)}1${")".repeat(33)}\nB={1}`)).toEqual(["E008 2:35"]);
  });
});

describe("files", () => {
  test("keeps front matter, and detects it by its keys", () => {
    const { file, diagnostics } = parseGnn('---\nauthor: "A"\ntags:\n  - x\n  - 2\nn: 1.5 # c\n---\n## ModelName\nM\n');
    expect(file.frontMatter?.values).toEqual({ author: "A", tags: ["x", 2], n: 1.5 });
    expect(file.models).toHaveLength(1);
    expect(diagnostics).toEqual([]);
  });

  test("a rule before a GNNSection separates models; any other rule is decoration", () => {
    const one = "## GNNSection\nA\n---\n## ModelName\nM\n## StateSpaceBlock\ns[1]\n";
    const { file, diagnostics } = parseGnn(`${one}---\n# two\n${one}`);
    expect(file.models.map(({ header, sections }) => [header, sections.length])).toEqual([
      [[], 3],
      [["# two"], 3],
    ]);
    expect(diagnostics).toEqual([]);
  });

  test("a second GNNSection starts a model, with a warning", () => {
    const text = "## GNNSection\nA\n## GNNSection\nB\n";
    expect(parseGnn(text).file.models).toHaveLength(2);
    expect(places(text)).toEqual(["W004 3:1"]);
  });

  test("positions in CSV refer to the CSV text", () => {
    const text = '# Title\nGNNSection,Some\nStateSpaceBlock,"s[2]\nA[2,2]"\nConnections,"s>A","A?s"\n';
    const { file, diagnostics } = parseGnn(text);
    expect(file.form).toBe("csv");
    expect(viewOf(file.models[0]!)).toMatchObject({ identifier: "Some", name: "Title" });
    expect(viewOf(file.models[0]!).variables).toHaveLength(2);
    expect(diagnostics).toMatchObject([{ code: "E005", start: { line: 5, column: 20 } }]);
  });

  test.each([
    ["## GNNSection: x", []],
    ["## Model Name", ["W005 1:1"]],
    ["## Conections", ["W005 1:1"]],
    ["## AgentHyperparameters", ["N005 1:1"]],
    ["## now the edges", ["W005 1:1"]],
    ["### a comment", []],
  ])("accepts the heading %s", (text, expected) => {
    expect(places(text)).toEqual(expected);
  });

  test("treats an example in fences as text", () => {
    const { file } = parseGnn("## ModelAnnotation\n```\n## Connections\n```\n## Footer\nx");
    expect(file.models[0]!.sections.map(({ name }) => name)).toEqual(["ModelAnnotation", "Footer"]);
  });

  test("accepts the line ends of any system, and a byte order mark", () => {
    const text = sample("two_room.md");
    const plain = parseGnn(text).file.models.map(toModelData);
    for (const other of [text.replaceAll("\n", "\r\n"), text.replaceAll("\n", "\r"), `\uFEFF${text}`])
      expect(parseGnn(other).file.models.map(toModelData)).toEqual(plain);
  });

  test("accepts numbers, lists, texts and words as parameters", () => {
    const text = '## ModelParameters\na: 3 # c\nb: [1, 2]\nc: "x y"\nd: online mode\ne=4\nwhat\n';
    expect(view(text).parameters.map(({ value: of }) => toValueData(of))).toEqual([
      3,
      [1, 2],
      { text: "x y" },
      { word: "online mode" },
      4,
    ]);
    expect(places(text)).toEqual(["W006 7:1"]);
  });
});
