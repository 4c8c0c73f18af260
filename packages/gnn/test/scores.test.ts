import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { parseGnn } from "../src/language/parse.ts";
import { viewOf } from "../src/language/view.ts";
import type { Program } from "../src/programs/program.ts";
import { readProgram } from "../src/programs/read-program.ts";
import { renderWithNotes, type RenderTargetName } from "../src/render/targets.ts";
import { digamma } from "../src/simulate/digamma.ts";
import { toRunData } from "../src/simulate/report.ts";
import { simulate } from "../src/simulate/simulate.ts";
import type { DiscreteSimulation } from "../src/simulate/simulation.ts";
import { COUPLED, LEARNING, LINEAR, MESSAGES, TALL, TWO_FACTORS, TWO_ROOM } from "./models.ts";

const hasNumpy = spawnSync("python3", ["-c", "import numpy"]).status === 0;
const KEYS = ["beliefs", "mean", "covariance", "free_energy", "policies", "negative_expected_free_energy"];
const PARTS = ["epistemic_value", "pragmatic_value", "parameter_information_gain"];

interface Row extends Readonly<Record<string, unknown>> {
  readonly observation: number[];
  readonly action: number[];
}

/** Returns the model with lines in ModelParameters. */
function stating(text: string, ...lines: readonly string[]): string {
  return `${text}\n## ModelParameters\n${lines.join("\n")}\n`;
}

function programOf(text: string): Program {
  return readProgram(viewOf(parseGnn(text).file.models[0]!));
}

async function runOf(text: string, options = {}): Promise<DiscreteSimulation> {
  return (await simulate(programOf(text), { steps: 3, ...options })) as DiscreteSimulation;
}

function notesFor(text: string, target: RenderTargetName): string {
  return renderWithNotes(programOf(text), target).notes.join(" ");
}

/** Runs the program for NumPy and returns its rows. */
function numpyRows(text: string): readonly Row[] {
  const folder = mkdtempSync(join(tmpdir(), "gnn-scores-"));
  try {
    writeFileSync(join(folder, "program.py"), renderWithNotes(programOf(text), "numpy").text);
    const { stdout, stderr } = spawnSync("python3", [join(folder, "program.py"), "5", "3"], { encoding: "utf8" });
    if (stdout === "") throw new Error(stderr);
    return stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as Row);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

describe("a rendered program", () => {
  beforeEach(({ skip }) => skip(!hasNumpy, "NumPy is not on this machine"));

  test.each([
    ["one factor", TWO_ROOM],
    ["several factors and a longer policy", stating(TWO_FACTORS, "policy_len: 2")],
    ["message passing", MESSAGES],
    ["no preference", stating(COUPLED, "use_utility: False")],
    ["weights", stating(TALL, "epistemic_weight: 3", "pragmatic_weight: 0.5")],
    ["learning", stating(LEARNING, "learning_rate: 0.5", "use_param_info_gain: True")],
    ["a Kalman filter", LINEAR],
  ])("returns the free energies of the simulation: %s", async (_, text) => {
    const program = programOf(text);
    const rows = numpyRows(text);
    const names = program.kind === "discrete" ? program.agents.map(({ name }) => name) : [""];
    const of = (name: string): readonly Row[] => rows.filter(({ agent = "" }) => agent === name);
    const [lowest] = names;
    const actions = Object.fromEntries(names.map((name) => [name, of(name).map(({ action }) => action)]));
    const data = toRunData(
      await simulate(program, {
        observations: of(lowest!).map(({ observation }) => observation),
        ...(program.kind === "discrete" ? { actions: names.length === 1 ? actions[lowest!]! : actions } : {}),
      }),
    ) as { agents: { name: string; steps: Readonly<Record<string, unknown>>[] }[] };
    for (const { name, steps } of data.agents)
      for (const [index, step] of steps.entries())
        for (const key of [...KEYS, ...PARTS]) expectClose(of(name)[index]![key], step[key]);
  });
});

function expectClose(actual: unknown, expected: unknown): void {
  const numbers = (value: unknown): number[] => (Array.isArray(value) ? value.flatMap(numbers) : [Number(value)]);
  if (expected === undefined) expect(actual).toBeUndefined();
  else for (const [index, number] of numbers(expected).entries()) expect(numbers(actual)[index]).toBeCloseTo(number, 9);
}

describe("statements about the score of a policy", () => {
  test("a flag that is False removes its part from the score", async () => {
    for (const [line, key, other] of [
      ["use_utility: False", "pragmatic", "epistemic"],
      ["use_states_info_gain: False", "epistemic", "pragmatic"],
    ] as const) {
      const [step] = (await runOf(stating(TWO_ROOM, line))).agents[0]!.steps;
      expect([...step!.scores]).toEqual([...step![other]!]);
      expect(step![key]!.every((value) => value === 0)).toBe(true);
    }
  });

  test("weights multiply the parts of the score", async () => {
    const replay = { observations: [[1], [0], [1]], actions: [[0], [1], [0]] };
    const usual = (await runOf(TWO_ROOM, replay)).agents[0]!.steps[1]!;
    const lines = ["epistemic_weight: 3", "pragmatic_weight: 0.5"];
    const weighted = (await runOf(stating(TWO_ROOM, ...lines), replay)).agents[0]!.steps[1]!;
    for (const [policy, score] of weighted.scores.entries())
      expect(score).toBeCloseTo(3 * usual.epistemic![policy]! + 0.5 * usual.pragmatic![policy]!, 12);
  });

  test("the learning rate scales what a step adds to the counts", async () => {
    const replay = { steps: 2, observations: [[0], [0]], actions: [[0], [0]] };
    const free = async (line: string): Promise<number> =>
      (await runOf(stating(LEARNING, line), replay)).agents[0]!.steps[1]!.freeEnergy;
    const [none, half, whole] = [await free("lr_pA: 0"), await free("lr_pA: 0.5"), await free("lr_pA: 1")];
    expect(half).not.toBeCloseTo(whole, 6);
    expect(half).not.toBeCloseTo(none, 6);
    expect((half - none) * (whole - half)).toBeGreaterThan(0);
  });

  test("the methods differ in the information gain about parameters", async () => {
    const text = stating(LEARNING, "use_param_info_gain: True");
    const gains = await Promise.all(
      (["pymdp-1", "pymdp-0.0.7"] as const).map(async (method) => (await runOf(text, { method })).agents[0]!.steps[0]!),
    );
    for (const { scores, epistemic, pragmatic, parameters } of gains)
      for (const [policy, score] of scores.entries())
        expect(score).toBeCloseTo(epistemic![policy]! + pragmatic![policy]! + parameters![policy]!, 12);
    expect(gains[0]!.parameters![0]).not.toBeCloseTo(gains[1]!.parameters![0]!, 3);
    expect(gains.every(({ parameters }) => parameters![0]! > 0)).toBe(true);
  });

  test("notes name the settings that a model or a target cannot use", () => {
    expect(notesFor(stating(TWO_ROOM, "learning_rate: 0.1"), "numpy")).toContain(
      "The learning rate of A, B, D is not used, because the model has no Dirichlet counts of it.",
    );
    expect(notesFor(stating(TWO_ROOM, "use_param_info_gain: True"), "numpy")).toContain(
      "The information gain about parameters is not used, because the model learns neither A nor B.",
    );
    expect(notesFor(stating(TWO_ROOM, "use_utility: False", "pragmatic_weight: 2"), "numpy")).toContain(
      "pragmatic_weight is 2, but is not used",
    );
    expect(notesFor(stating(TWO_ROOM, "epistemic_weight: 2"), "pymdp")).toContain(
      "The program for PyMDP 1.x does not use these settings of the model: epistemic weight.",
    );
    expect(notesFor(stating(LEARNING, "use_param_info_gain: True"), "rxinfer")).toContain(
      "does not use these settings of the model: the information gain about parameters.",
    );
    expect(notesFor(stating(TWO_ROOM, "use_states_info_gain: False"), "pymdp_0_0_7")).toBe("");
    expect(notesFor(stating(LINEAR, "learning_rate: 0.1"), "stan")).toContain("learning_rate");
  });

  test("PyMDP 0.0.7 refuses the information gain about parameters of a model that learns only some", () => {
    const text = stating(
      TWO_FACTORS.replace("## Connections", "dirichlet_A_m0[2,2,2,default=ones]\n## Connections"),
      "use_param_info_gain: True",
    );
    expect(() => renderWithNotes(programOf(text), "pymdp_0_0_7")).toThrow(/learns only some A|all factors/);
  });

  test.each([
    [1, -0.5772156649015329],
    [0.5, -1.9635100260214235],
    [2, 0.42278433509846713],
    [10, 2.251752589066721],
    [1e-3, -1000.575571931823],
  ])("returns the digamma function of %d", (argument, value) => {
    expect(digamma(argument)).toBeCloseTo(value, 9);
  });
});
