import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import * as fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { toJsonData } from "../src/exports/json.ts";
import { parseGnn } from "../src/language/parse.ts";
import { viewOf } from "../src/language/view.ts";
import { readProgram } from "../src/programs/read-program.ts";
import { ProgramError } from "../src/programs/program-error.ts";
import { stringLiteral } from "../src/render/literals.ts";
import { RENDER_TARGETS, renderProgram, type RenderTargetName } from "../src/render/targets.ts";
import { gnn } from "../src/service.ts";
import { openService } from "../../toolyard/servers/shared/service.ts";
import { Desk } from "../../../test/cli/harness.ts";
import { COUPLED, MESSAGES, TALL, TWO_AGENTS, TWO_LEVELS, TWO_FACTORS, LINEAR, LEARNING, TWO_ROOM } from "./models.ts";

const TARGETS = Object.keys(RENDER_TARGETS) as RenderTargetName[];
const DISCRETE = TARGETS.filter((target) => target !== "stan");

function render(text: string, target: RenderTargetName, policyLength = 1): string {
  return renderProgram(readProgram(viewOf(parseGnn(text).file.models[0]!)), target, { policyLength });
}

/** Returns the construct and the message of a refusal. */
function refusal(text: string, target: RenderTargetName): readonly [string, string] {
  try {
    render(text, target);
  } catch (error) {
    if (error instanceof ProgramError) return [error.construct, error.message];
    throw error;
  }
  throw new Error(`${target} was rendered.`);
}

describe("an error for an unsupported construct names the construct", () => {
  test.each([
    ["pymdp", LINEAR, "F", "F, H, Q and R: PyMDP has discrete states only."],
    ["pymdp_0_0_7", LINEAR, "F", "F, H, Q and R: PyMDP has discrete states only."],
    [
      "pymdp_0_0_7",
      MESSAGES,
      "inference_algo",
      "inference_algo is MMP, which PyMDP 0.0.7 applies to each policy separately",
    ],
    [
      "pymdp_0_0_7",
      COUPLED,
      "B_f1",
      "B_f1 depends on the states of several factors, but PyMDP 0.0.7 supports only a factor's",
    ],
    ["rxinfer", MESSAGES, "inference_algo", "inference_algo is MMP, but RxInfer passes different messages"],
    ["stan", TWO_ROOM, "A", "A and B have discrete states, which Stan cannot infer."],
    [
      "pymdp",
      TWO_FACTORS.replace("## Connections", "dirichlet_A_m0[2,2,2,default=ones]\n## Connections"),
      "A_m1",
      "all A",
    ],
    [
      "pymdp_0_0_7",
      TWO_FACTORS.replace("## Connections", "dirichlet_A_m1[2,2,default=ones]\n## Connections"),
      "dirichlet_A_m1",
      "PyMDP 0.0.7 learns over all factors",
    ],
  ] as const)("names the construct: %s", (target, text, construct, sentence) => {
    expect(refusal(text, target)).toEqual([construct, expect.stringContaining(sentence)]);
  });

  test.each([0, 1.5, Number.NaN])(
    "refuses a policy of %d actions, and an invalid precision, for any target",
    (length) => {
      const program = readProgram(viewOf(parseGnn(TWO_ROOM).file.models[0]!));
      expect(() => renderProgram(program, "numpy", { policyLength: length })).toThrow(
        "policyLength must be a whole number",
      );
      expect(() => renderProgram(program, "rxinfer", { gamma: Number.NaN })).toThrow(
        "gamma must be a number of at least 0",
      );
    },
  );

  test("every target renders the models that it supports", () => {
    for (const target of DISCRETE) expect(render(TWO_ROOM, target)).toContain("Two-Room Agent");
    for (const target of ["pymdp", "jax", "numpy", "pytorch"] as const)
      expect(render(MESSAGES, target)).toContain("WINDOW = 4");
    for (const text of [TWO_FACTORS, TWO_LEVELS, TALL, TWO_AGENTS, LEARNING, COUPLED]) {
      for (const target of ["pymdp", "pymdp_0_0_7", "jax", "numpy", "pytorch"] as const)
        if (target !== "pymdp_0_0_7" || text !== COUPLED) expect(render(text, target)).toContain("class Mind:");
      expect(render(text, "rxinfer")).toContain("mutable struct Mind");
    }
    for (const target of ["jax", "numpy", "pytorch", "rxinfer", "stan"] as const)
      expect(render(LINEAR, target)).toContain("0.95");
  });
});

describe("graphs for RxInfer", () => {
  test("with one factor the graph is a tree, so messages are exact and no constraints are written", () => {
    const program = render(TWO_ROOM, "rxinfer");
    expect(program).toContain("    s_1 ~ Categorical(D_1)\n    o_1 ~ DiscreteTransition(s_1, A_1)\nend");
    expect(program).not.toContain("@constraints");
  });

  test("factors have separate marginals, and a likelihood refers only to its own factors", () => {
    const program = render(MESSAGES.replace("inference_algo: MMP", "inference_algo: FPI"), "rxinfer");
    expect(program).toContain("    o_1 ~ DiscreteTransition(s_1, A_1, s_2)\n    o_2 ~ DiscreteTransition(s_2, A_2)\n");
    expect(program).toContain("q(s_1, s_2) = q(s_1) * q(s_2)");
    expect(program).toContain("from = [Int[1], Int[1, 2]],");
  });

  test("a factor without observations keeps its expected state; a learned likelihood has counts", () => {
    const tall = render(TALL, "rxinfer");
    expect(tall).toContain("const RATIOS = Int[2]");
    expect(tall).toContain("return [mind.prior[1], probvec(result.posteriors[:s_2])]");
    const learning = render(LEARNING, "rxinfer");
    expect(learning).toContain("    A_1 ~ DirichletCollection(counts_1)\n");
    expect(learning).toContain("q(s_1, A_1) = q(s_1) * q(A_1)");
  });
});

describe("texts of a model", () => {
  /** Characters that are invisible, interpolate, or end a literal, a comment or a line in some language. */
  const HOSTILE = [
    '"""',
    "'''",
    '"; import os; os.system("id") #',
    "$(run(`id`))",
    "${id}",
    "\\",
    '\\"',
    "*/ real x; /*",
    "\u202E\u2028\u0000\u0085",
    "{__import__('os')}",
    "😀\uD800",
  ];

  test.each(HOSTILE)("the text %j cannot end the string literal that contains it", (words) => {
    const text = TWO_ROOM.replace("Two-Room Agent", `Room ${words}`);
    for (const target of DISCRETE) {
      const tame = render(TWO_ROOM.replace("Two-Room Agent", "Room"), target).split("\n");
      const lines = render(text, target).split("\n");
      // Only one line differs: one literal of printable ASCII.
      const changed = lines.filter((line, index) => line !== tame[index]);
      expect([lines.length, changed.length]).toEqual([tame.length, 1]);
      expect(changed[0]).toMatch(/^(?:const )?TITLE = "(?:[ !#%-[\]-~]|\\u[\da-f]{4}|\\U[\da-f]{8})*"$/);
    }
  });

  test("texts of any kind become literals that read back unchanged", () => {
    const read = (literal: string): string =>
      literal
        .slice(1, -1)
        .replaceAll(/\\U([\da-f]{8})|\\u([\da-f]{4})/g, (_, long: string, short: string) =>
          String.fromCodePoint(Number.parseInt(long ?? short, 16)),
        );
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), (text) => {
        const literal = stringLiteral(text);
        expect(literal).toMatch(/^"(?:[ !#%-[\]-~]|\\u[\da-f]{4}|\\U[\da-f]{8})*"$/);
        expect(read(literal)).toBe(text.replaceAll(/\p{Surrogate}/gu, "\uFFFD"));
      }),
    );
  });

  test("a program for Stan contains no text of the model", () => {
    expect(render(LINEAR.replace("Drift", "*/ real x; /*"), "stan")).toBe(render(LINEAR, "stan"));
  });
});

describe("the tools", () => {
  let yard: string;
  let hub: Awaited<ReturnType<typeof openService>>;

  beforeEach(async () => {
    yard = realpathSync(mkdtempSync(join(tmpdir(), "toolyard-gnn-")));
    vi.stubEnv("TOOLYARD_HOME", yard);
    writeFileSync(join(yard, "two_room.md"), TWO_ROOM);
    writeFileSync(join(yard, "linear.md"), LINEAR);
    const environment = { GNN_ROOTS: yard, TOOLYARD_HOME: yard, TOOLYARD_LOGGING_LEVEL: "error" };
    hub = await openService(gnn, { environment });
  });
  afterEach(async () => {
    await hub.close();
    vi.unstubAllEnvs();
    rmSync(yard, { recursive: true, force: true });
  });

  /** Returns the structured content of a successful call, or error code and message of a failed one. */
  async function call(tool: string, args: Record<string, unknown>): Promise<unknown> {
    const outcome = await hub.call(tool, args);
    return outcome.ok ? outcome.result["structuredContent"] : [outcome.kind, outcome.message];
  }

  test("G55: renders a specification from a path or from data, with a preview and a file", async () => {
    const data = JSON.parse(JSON.stringify(toJsonData(parseGnn(TWO_ROOM).file))) as object;
    for (const gnn_specification of ["two_room.md", data])
      for (const target_format of ["pymdp", "rxinfer"]) {
        const args = { gnn_specification, target_format, output_filename_base: "room" };
        const end = target_format === "pymdp" ? "py" : "jl";
        expect(await call("render_gnn_specification", args)).toEqual({
          success: true,
          message: expect.stringContaining("The model Two-Room Agent was rendered to "),
          artifact_uri: pathToFileURL(join(yard, `room.${end}`)).href,
          rendered_content_preview: readFileSync(join(yard, `room.${end}`), "utf8")
            .split("\n")
            .slice(0, 20)
            .join("\n"),
        });
      }
  });

  test("G52, G55: targets are an enum; refuses another target, and an output name that leaves the folder", async () => {
    const args = { gnn_specification: "two_room.md", target_format: "pymdp" };
    expect(await call("render_gnn_specification", { ...args, target_format: "perl" })).toEqual([
      "invalid_params",
      expect.stringContaining("target_format"),
    ]);
    for (const output_filename_base of ["../room", "a/b", ".room", ""])
      expect(await call("render_gnn_specification", { ...args, output_filename_base })).toEqual([
        "invalid_params",
        expect.any(String),
      ]);
    expect(await call("render_gnn_specification", { ...args, render_options: { depth: 2 } })).toEqual([
      "invalid_params",
      expect.any(String),
    ]);
    expect(existsSync(join(yard, "../room.py"))).toBe(false);
  });

  test("G55: lists the targets, and has a tool for each", async () => {
    const { targets } = (await call("list_render_targets", {})) as { targets: { name: string; extension: string }[] };
    expect(targets.map(({ name }) => name)).toEqual(TARGETS);
    for (const { name, extension } of targets) {
      const from = name === "stan" ? "linear.md" : "two_room.md";
      const args = { gnn_file_path: from, output_file_path: `out${extension}` };
      expect(await call(`render.render_gnn_to_${name}_mcp`, args)).toEqual({
        status: "success",
        message: expect.stringContaining(`GNN model from ${from} rendered to out${extension} for `),
        output_uri: pathToFileURL(join(yard, `out${extension}`)).href,
      });
    }
    expect(
      await call("render.render_gnn_to_pymdp_mcp", { gnn_file_path: "none.md", output_file_path: "x.py" }),
    ).toEqual(["invalid_params", expect.stringContaining("Input GNN file not found: none.md")]);
    expect(
      await call("render.render_gnn_to_pymdp_mcp", { gnn_file_path: "linear.md", output_file_path: "x.py" }),
    ).toEqual(["invalid_params", expect.stringContaining("PyMDP has discrete states only")]);
    expect(existsSync(join(yard, "x.py"))).toBe(false);
  });

  test("renders a text without a file", async () => {
    const args = { text: TWO_ROOM, target_format: "numpy", policy_length: 2 };
    expect(await call("gnn.render", args)).toMatchObject({
      program: expect.stringContaining("POLICY_LENGTH = 2"),
      notes: [],
    });
  });
});

describe("toolyard gnn render", () => {
  test("prints a program or writes it, and names the constructs that the target cannot express", async () => {
    await using desk = await Desk.create({ "a.md": TWO_ROOM, "b.md": LINEAR });
    const printed = await desk.run(["gnn", "render", "a.md", "--to", "pymdp"]);
    expect(printed).toMatchObject({ code: 0, stderr: "", stdout: expect.stringContaining("from pymdp.agent import") });
    expect(await desk.run(["gnn", "render", "a.md", "--to", "pymdp", "-o", "a.py"])).toMatchObject({ code: 0 });
    expect(readFileSync(desk.path("a.py"), "utf8").trim()).toBe(printed.stdout.trim());
    expect(await desk.run(["gnn", "render", "b.md", "--to", "pymdp"])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("b.md: F, H, Q and R: PyMDP has discrete states only."),
    });
  });
});
