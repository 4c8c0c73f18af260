import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { parseGnn } from "../src/language/parse.ts";
import { viewOf } from "../src/language/view.ts";
import { ProgramError } from "../src/programs/program-error.ts";
import { readProgram } from "../src/programs/read-program.ts";
import type { Program } from "../src/programs/program.ts";
import { plotRun } from "../src/simulate/plot.ts";
import { COUPLED, MESSAGES, TWO_LEVELS } from "./models.ts";
import type { MethodName } from "../src/simulate/options.ts";
import { simulate } from "../src/simulate/simulate.ts";
import type { Simulation } from "../src/simulate/simulation.ts";

const TWO_ROOM = readFileSync(new URL("../../../test/fixtures/gnn/two_room.md", import.meta.url), "utf8");

/** Returns the program of a text's only model. */
function programOf(text: string): Program {
  return readProgram(viewOf(parseGnn(text).file.models[0]!));
}

interface Vectors {
  readonly versions: Readonly<Record<string, string>>;
  readonly models: readonly {
    readonly name: string;
    readonly gnn: string;
    readonly policyLength: number;
    readonly observations: readonly (readonly number[])[];
    readonly actions: readonly (readonly number[])[];
    readonly rows: readonly {
      readonly beliefs: readonly (readonly number[])[];
      readonly policies: readonly number[];
      readonly scores: readonly number[];
    }[];
  }[];
}

function vectorsOf(method: MethodName): Vectors {
  return JSON.parse(readFileSync(new URL(`./vectors/${method}.json`, import.meta.url), "utf8")) as Vectors;
}

/** Returns the largest difference of numbers at the same positions. */
function distance(one: readonly Iterable<number>[], other: readonly Iterable<number>[]): number {
  const [left, right] = [one, other].map((lists) => lists.flatMap((list) => [...list]));
  expect(left).toHaveLength(right!.length);
  return Math.max(...left!.map((number, index) => Math.abs(number - right![index]!)));
}

describe.each(["pymdp-1", "pymdp-0.0.7"] as const)("agents with the method %s", (method) => {
  const { models } = vectorsOf(method);

  test.each(models.map((model) => [model.name, model] as const))(
    "beliefs, scores and policies equal those of PyMDP: %s",
    async (_name, { gnn, policyLength, observations, actions, rows }) => {
      const run = await simulate(programOf(gnn), { method, policyLength, observations, actions });
      const { steps } = run.agents[0]!;
      for (const [step, row] of rows.entries()) {
        expect(distance(steps[step]!.beliefs, row.beliefs)).toBeLessThan(1e-6);
        expect(distance([steps[step]!.scores], [row.scores])).toBeLessThan(1e-6);
        expect(distance([steps[step]!.policies], [row.policies])).toBeLessThan(1e-6);
      }
    },
  );
});

describe("a run", () => {
  test("two runs are equal for the same seed and differ for different seeds", async () => {
    const program = programOf(TWO_ROOM.replace("(0.9, 0.1),\n  (0.1, 0.9)", "(0.6, 0.4),\n  (0.4, 0.6)"));
    const runs = await Promise.all([1, 1, 2].map((seed) => simulate(program, { seed })));
    expect(runs[0]).toEqual(runs[1]);
    expect(seenIn(runs[0]!)).not.toEqual(seenIn(runs[2]!));
  });

  test("a run moves to the states that the model prefers, and stays there", async () => {
    const { agents } = await simulate(programOf(TWO_ROOM), { steps: 20, seed: 3, gamma: 16 });
    const rooms = agents[0]!.steps.map(({ states }) => states![0]);
    expect(rooms.slice(2).filter((room) => room === 1).length).toBeGreaterThan(15);
  });

  test("an aborted run rejects with the reason of its signal", async () => {
    const signal = AbortSignal.abort(new Error("nobody waits"));
    const program = programOf(TWO_ROOM);
    await expect(simulate(program, { steps: 1000, policyLength: 7, signal })).rejects.toThrow("nobody waits");
  });
});

describe("refuses a model that cannot be run, and names the reason", () => {
  const refused = async (text: string, options = {}): Promise<string> => {
    const error = await (async () => simulate(programOf(text), options))().catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(ProgramError);
    return (error as ProgramError).message;
  };

  test.each([
    ["a likelihood without numbers", TWO_ROOM.replace(/A=\{[^}]*\}/, "A={ }"), "A has no numbers. Add A={…}"],
    ["no likelihood", TWO_ROOM.replaceAll(/^[AC](?:\[|=).*$/gm, ""), "The model has no likelihood A"],
    ["columns that are no probabilities", TWO_ROOM.replace("(0.9, 0.1)", "(0.5, 0.1)"), "columns of A are not prob"],
    [
      "a habit of another length",
      withTensor("E", "[3]", "{(0.2,0.3,0.5)}"),
      "E has 3 numbers, and there are 2 policies",
    ],
    ["random numbers", withTensor("E", "[2,type=float,default=random]", undefined), 'E is "random"'],
    ["counts of what is not learnt", withTensor("dirichlet_E", "[2]", "{(1,2)}"), "dirichlet_E: A, B and D are learnt"],
    ["a number without end", TWO_ROOM.replace("C={(0.0, 1.0)}", "C={(0.0, -inf)}"), "C contains -Infinity"],
    [
      "transitions over states that no factor has",
      withTensor("B_f1", "[2,3,2,1]", "{(((1),(1)),((1),(1)),((1),(1))),(((0),(0)),((0),(0)),((0),(0)))}"),
      "B_f1 depends on 3×2 states, but the factors have other numbers of states (B: 2, B_f1: 2).",
    ],
  ])("refuses %s", async (_what, text, message) => {
    expect(await refused(text)).toContain(message);
  });

  test("refuses a run above the limits, with the numbers", async () => {
    expect(await refused(TWO_ROOM, { steps: 1001 })).toContain("1,001 steps, more than 1,000");
    expect(await refused(TWO_ROOM, { steps: 1000, policyLength: 8 })).toContain("numbers of the result, more than");
    const large = withTensor("A_m1", "[1000,1001,type=float,default=uniform]", undefined);
    expect(await refused(large)).toContain("has more than 1,000,000 numbers");
  });

  test.each([
    ["steps", { steps: Number.NaN }],
    ["steps", { steps: 0 }],
    ["seed", { seed: 1.5 }],
    ["policyLength", { policyLength: -1 }],
    ["gamma", { gamma: Number.POSITIVE_INFINITY }],
    ["gamma", { gamma: -1 }],
  ])("refuses %s if it is %j", async (name, options) => {
    expect(await refused(TWO_ROOM, options)).toContain(`${name} must be a `);
  });

  test.each([
    ["timescale_ratio: 0", TWO_LEVELS.replace("timescale_ratio: 3", "timescale_ratio: 0")],
    ["timescale_ratio: 1e300", TWO_LEVELS.replace("timescale_ratio: 3", "timescale_ratio: 1e300")],
    ["inference_horizon: 2.5", MESSAGES.replace("inference_horizon: 4", "inference_horizon: 2.5")],
  ])("refuses a program parameter with an invalid number: %s", async (line, text) => {
    expect(await refused(text)).toMatch(new RegExp(`^${line.split(":")[0]!} (must be|gives the highest level)`));
  });

  test("refuses observations and actions that the model does not have", async () => {
    expect(await refused(TWO_ROOM, { observations: [[2]] })).toContain("that for A from 0 to 1");
    expect(await refused(TWO_ROOM, { steps: 2, actions: [[0]] })).toContain("There are 1 actions for 2 steps");
  });

  test("refuses a model that PyMDP 0.0.7 would learn differently", async () => {
    const text = withTensor("B_f1", "[2,2,1]", "{((1,0),(0,1))}").replace("s-A", "s_f0-A");
    const learns = text
      .replace("## Connections", "dirichlet_A[2,2]\n## Connections")
      .replace("D={", "dirichlet_A={(2,1),(1,2)}\nD={");
    expect(await refused(learns, { method: "pymdp-0.0.7" })).toContain("dirichlet_A is learnt over 1 of 2 factors");
    expect((await simulate(programOf(learns), { steps: 2 })).steps).toBe(2);
  });
});

/** Returns the sample with an additional tensor, with its declaration and value. */
function withTensor(name: string, shape: string, value: string | undefined): string {
  const declared = TWO_ROOM.replace("## Connections", `${name}${shape}\n## Connections`);
  return value === undefined ? declared : declared.replace("D={", `${name}=${value}\nD={`);
}

describe("several agents and levels", () => {
  const doubled = (kind: string): string =>
    ["1", "2"].reduce(
      (text, number) => text.replace("## Connections", `${tensorsOf(kind, number, "declared")}\n## Connections`),
      TWO_ROOM.replaceAll(/^[ABCD]\[.*$/gm, "").replace(
        /A=\{[^]*D=\{.*\}/,
        tensorsOf(kind, "1", "given") + tensorsOf(kind, "2", "given"),
      ),
    );
  const tensorsOf = (kind: string, number: string, what: "declared" | "given"): string => {
    const name = (letter: string): string => `${letter}_${kind}${number}`;
    return what === "declared"
      ? `${name("A")}[2,2]\n${name("B")}[2,2,2]\n${name("C")}[2]\n${name("D")}[2]`
      : `${name("A")}={(0.9,0.1),(0.1,0.9)}\n${name("B")}={((1,0),(0,1)),((0,1),(1,0))}\n` +
          `${name("C")}={(0,1)}\n${name("D")}={(0.5,0.5)}\n`;
  };

  test("each agent acts in its own world", async () => {
    const { agents } = await simulate(programOf(doubled("agent")), { steps: 5 });
    expect(agents.map(({ name, steps }) => [name, steps.length])).toEqual([
      ["agent1", 5],
      ["agent2", 5],
    ]);
  });

  test("an upper level observes the state of the level below at the end of each period", async () => {
    const text = doubled("level").replace("## ModelParameters", "## ModelParameters\ntimescale_ratio: 3");
    const { agents } = await simulate(programOf(text), { steps: 7 });
    const [lower, upper] = agents;
    expect(upper!.steps.map(({ step }) => step)).toEqual([2, 5]);
    for (const { step, observation } of upper!.steps) {
      const [belief] = lower!.steps[step]!.beliefs;
      expect(belief![observation[0]!]).toBe(Math.max(...belief!));
    }
  });

  test("refuses levels that do not fit together, and names the reason", () => {
    const text = doubled("level").replace("A_level2[2,2]", "A_level2[3,2]");
    const spoilt = text
      .replace("A_level2={(0.9,0.1),(0.1,0.9)}", "A_level2={(0.9,0.1),(0.1,0.8),(0,0.1)}")
      .replace(/C_level2.*$/gm, "");
    expect(() => programOf(spoilt)).toThrow("A_level2 has 3 outcomes, and level1, which it observes, has 2 states.");
  });
});

describe("a plot", () => {
  test("a plot is SVG without markup of the model", async () => {
    const text = TWO_ROOM.replace("Two-Room Agent", "<script>alert(1)</script>&");
    const svg = plotRun(await simulate(programOf(text), { steps: 300 }));
    expect(svg).not.toContain("<script");
    expect(svg).toContain("&lt;script&gt;alert(1)&lt;/script&gt;&amp;");
    expect(svg).toContain("every 2 of 300");
    expect(svg.length).toBeLessThan(200_000);
  });
});

function seenIn({ agents }: Simulation): unknown {
  return agents.map(({ steps }) => steps.map(({ observation }) => observation));
}

describe("names in words", () => {
  const MAZE = [
    "## StateSpaceBlock",
    "A_place[3,3,default=eye]\nA_reward[2,3,2]\nB_place[3,3,2]\nB_side[2,2,1,default=eye]\nC_reward[2]\nD_side[2]",
    "s_place[3]\ns_side[2]",
    "## Connections\ns_place-A_place\ns_place-A_reward\ns_side-A_reward",
    "## InitialParameterization",
    "A_reward={((1,1),(0.1,0.9),(0.9,0.1)),((0,0),(0.9,0.1),(0.1,0.9))}",
    "B_place={((0,0),(0,0),(0,0)),((1,0),(1,0),(1,0)),((0,1),(0,1),(0,1))}",
    "C_reward={(0,3)}\nD_side={(0.9,0.1)}",
  ].join("\n");
  /** The same model with numbered names: place is factor 0 and modality 0. */
  const NUMBERED = MAZE.replaceAll(/_place/g, "_0")
    .replaceAll("A_reward", "A_1")
    .replaceAll("C_reward", "C_1")
    .replaceAll("_side", "_1");

  test("runs a model with named modalities and factors like one with numbered ones", async () => {
    const [worded, numbered] = [
      await simulate(programOf(MAZE), { steps: 4 }),
      await simulate(programOf(NUMBERED), { steps: 4 }),
    ];
    expect(worded.agents[0]!.factors.map(({ name }) => name)).toEqual(["B_place", "B_side"]);
    expect(worded.agents[0]!.steps).toEqual(numbered.agents[0]!.steps);
  });

  test("the error names a preference without a modality, or a missing likelihood", () => {
    expect(() => programOf(MAZE.replaceAll("C_reward", "C_smell"))).toThrow(
      "C_smell belongs to A_smell, but the model has none.",
    );
    expect(() => programOf("## StateSpaceBlock\nx[2]\n")).toThrow(
      "The model has no likelihood A, which programs require.",
    );
  });
});

describe("an algorithm of inference", () => {
  const asking = (lines: string): string => `${TWO_ROOM}\n## ModelParameters\n${lines}\n`;

  test("refuses every inference algorithm, by name, except the two supported ones", () => {
    expect(() => programOf(asking("inference_algo: VMP"))).toThrow(
      'inference_algo is "VMP"; programs infer by fixed-point iteration (FPI) or by marginal message passing (MMP).',
    );
    expect(() => programOf(asking("inference_algo: MMP\ninference_horizon: 65"))).toThrow(
      "inference_horizon is 65; message passing supports at most 64 steps.",
    );
  });

  test("uses fixed-point iteration, under either name, or message passing over a window", async () => {
    expect((await simulate(programOf(asking("inference_algo: VANILLA")), { steps: 2 })).steps).toBe(2);
    expect(programOf(asking("inference_algo: MMP"))).toMatchObject({ window: 16 });
    const messages = programOf(MESSAGES);
    await expect(simulate(messages, { method: "pymdp-0.0.7" })).rejects.toThrow("inference_algo is MMP, which PyMDP");
  });
});

describe("coupled factors, message passing over a window and a learnt initial state", () => {
  const runs = JSON.parse(readFileSync(new URL("./vectors/programs-numpy.json", import.meta.url), "utf8")) as Record<
    string,
    ProgramRow[]
  >;

  test.each([
    ["coupled", COUPLED],
    ["messages", MESSAGES],
  ])("results equal those of the rendered NumPy program: %s", async (name, text) => {
    const rows = runs[name]!;
    const [observations, actions] = [rows.map((row) => row.observation), rows.map((row) => row.action)];
    const { agents } = await simulate(programOf(text), { observations, actions });
    const { steps, learntD = [] } = agents[0]!;
    for (const [step, row] of rows.entries()) {
      expect(distance(steps[step]!.beliefs, row.beliefs)).toBeLessThan(1e-6);
      expect(distance([steps[step]!.scores], [row.negative_expected_free_energy])).toBeLessThan(1e-6);
      expect(distance([steps[step]!.policies], [row.policies])).toBeLessThan(1e-6);
    }
    expect(learntD).toHaveLength(rows[0]!.learnt_D?.length ?? 0);
    for (const [factor, start] of learntD.entries())
      expect(distance([start!], [rows[0]!.learnt_D![factor]!])).toBeLessThan(1e-6);
  });

  test("the next state of a coupled factor depends on all its factors", async () => {
    const sharp = COUPLED.replace(
      /^B_f1=.*$/m,
      "B_f1={(((1),(1),(1)),((0),(0),(0))),(((0),(0),(0)),((0),(0),(0))),(((0),(0),(0)),((1),(1),(1)))}",
    );
    const { agents } = await simulate(programOf(sharp), { steps: 30, seed: 5 });
    const states = agents[0]!.steps.map((step) => step.states!);
    for (const [step, [, after]] of states.slice(1).entries()) expect(after).toBe(states[step]![0] === 0 ? 0 : 2);
  });
});

interface ProgramRow {
  readonly observation: readonly number[];
  readonly action: readonly number[];
  readonly beliefs: readonly (readonly number[])[];
  readonly policies: readonly number[];
  readonly negative_expected_free_energy: readonly number[];
  readonly learnt_D?: readonly (readonly number[])[];
}
