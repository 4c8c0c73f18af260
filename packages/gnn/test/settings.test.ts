import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { checkGnn } from "../src/checks/check.ts";
import { parseGnn } from "../src/language/parse.ts";
import { viewOf } from "../src/language/view.ts";
import type { DiscreteProgram, Program } from "../src/programs/program.ts";
import { readProgram } from "../src/programs/read-program.ts";
import { RENDER_TARGETS, renderProgram, renderWithNotes, type RenderTargetName } from "../src/render/targets.ts";
import { toRunData, toRunText } from "../src/simulate/report.ts";
import { simulate } from "../src/simulate/simulate.ts";
import type { DiscreteSimulation } from "../src/simulate/simulation.ts";
import { LINEAR } from "./models.ts";

const TWO_ROOM = readFileSync(new URL("../../../test/fixtures/gnn/two_room.md", import.meta.url), "utf8");

function programOf(text: string): Program {
  return readProgram(viewOf(parseGnn(text).file.models[0]!));
}

/** Returns the sample with additional lines in ModelParameters. */
function stating(...lines: readonly string[]): string {
  return TWO_ROOM.replace("## Footer", `${lines.join("\n")}\n## Footer`);
}

/** Returns the sample with a value in InitialParameterization. */
function giving(line: string): string {
  return TWO_ROOM.replace("## Equations", `${line}\n## Equations`);
}

async function runOf(text: string, options = {}): Promise<DiscreteSimulation> {
  return (await simulate(programOf(text), options)) as DiscreteSimulation;
}

function notesOf(text: string): readonly string[] {
  return programOf(text).notes;
}

describe("settings that a model states", () => {
  test.each([
    ["num_timesteps: 7", { steps: 7 }],
    ["n_timesteps = 7", { steps: 7 }],
    ["nr_steps: 3", { steps: 3 }],
    ["random_seed: 42", { seed: 42 }],
    ["seed: 5", { seed: 5 }],
    ["policy_len: 2", { policyLength: 2 }],
    ["planning_horizon: 3", { policyLength: 3 }],
    ["gamma: 16.0", { gamma: 16 }],
    ["γ: 2", { gamma: 2 }],
    ["policy_precision: 4", { gamma: 4 }],
    ["beta: 0.25", { gamma: 4 }],
    ["β: 2", { gamma: 0.5 }],
    ["alpha: 8", { alpha: 8 }],
    ["action_precision: 3", { alpha: 3 }],
    ["ω: 2", { omega: 2 }],
    ["sensory_precision: 0.5", { omega: 0.5 }],
    ["inference_iterations: 40", { iterations: 40 }],
    ["action_selection: stochastic", { actionSelection: "stochastic" }],
    ["random_seed: none", {}],
    ['num_timesteps: "4"', { steps: 4 }],
    ["gamma: [2.5]", { gamma: 2.5 }],
    ["ModelTimeHorizon: 3", { steps: 3 }],
    ["learning_rate: 0.5", { learningRateA: 0.5, learningRateB: 0.5, learningRateD: 0.5 }],
    ["lr_pB: 0.25", { learningRateB: 0.25 }],
    ["learning_rate_A: 2", { learningRateA: 2 }],
    ["lr_pD = 0", { learningRateD: 0 }],
    ["learning_rate: 1", {}],
    ["epistemic_weight: 2", { epistemicWeight: 2 }],
    ["instrumental_weight: 0.5", { pragmaticWeight: 0.5 }],
    ["use_states_info_gain: False", { epistemicWeight: 0 }],
    ["use_utility_in_efe: false", { pragmaticWeight: 0 }],
    ["use_utility: 0", { pragmaticWeight: 0 }],
    ["use_utility: True", {}],
    ["use_param_info_gain: False", {}],
  ])("accepts the setting %s", (line, settings) => {
    expect(programOf(stating(line)).settings).toEqual(settings);
  });

  test.each([
    ["γ={(2.0)}", { gamma: 2 }],
    ["gamma=3", { gamma: 3 }],
    ["β={(0.5)}", { gamma: 2 }],
    ["ω={(4.0)}", { omega: 4 }],
    ["num_timesteps = 9", { steps: 9 }],
  ])("reads settings from InitialParameterization: %s", (line, settings) => {
    expect(programOf(giving(line)).settings).toEqual(settings);
  });

  test("the horizon sets the number of steps unless num_timesteps is present; a contradiction is noted", () => {
    const horizon = TWO_ROOM.replace("ModelTimeHorizon=Unbounded", "ModelTimeHorizon=12");
    expect(programOf(horizon).settings.steps).toBe(12);
    const both = horizon.replace("## Footer", "num_timesteps: 5\n## Footer");
    expect(programOf(both).settings.steps).toBe(5);
    expect(notesOf(both)).toContain("num_timesteps is 5 but ModelTimeHorizon is 12; the program uses num_timesteps.");
  });

  test("notes contradictory precisions, and ignores a γ with another ontology term", () => {
    expect(notesOf(stating("gamma: 2", "policy_precision: 3"))).toContain(
      "gamma is 2 and policy_precision is 3; the program uses gamma.",
    );
    expect(notesOf(stating("gamma: 2", "beta: 2")).join(" ")).toContain("the inverse of another precision");
    const constraint = giving("gamma=5").replace("t=Time", "t=Time\ngamma=ConstraintParameter");
    expect(programOf(constraint).settings).toEqual({});
    expect(notesOf(constraint)).toContain("The program does not use these values: gamma.");
  });

  test.each([
    ["policy_len: 0", "policy_len must be a whole number of at least 1, got 0."],
    ["random_seed: 1.5", "random_seed must be a whole number of at least 0, got 1.5."],
    ["num_timesteps: many", 'num_timesteps must be a whole number of at least 1, got "many".'],
    ["gamma: -1", "gamma must be a number of at least 0, got -1."],
    ["beta: 0", "beta must be a number above 0, got 0."],
    ["learning_rate: -0.5", "learning_rate must be a number of at least 0, got -0.5."],
    ["use_utility: maybe", 'use_utility must be True or False, got "maybe".'],
    ["action_selection: greedy", 'action_selection must be deterministic or stochastic, got "greedy".'],
  ])("refuses a value that cannot be used, and check reports it: %s", (line, message) => {
    expect(() => programOf(stating(line))).toThrow(message);
    const found = checkGnn(stating(line)).diagnostics.filter(({ code }) => code === "W013");
    expect(found.map((one) => one.message)).toEqual([message]);
  });

  test("notes unused parameters and values by name, also in check", () => {
    const text = stating("grid_rows: 3", "use_inductive: True", "learning_rate: 1").replace(
      "## Equations",
      "signal={(1)}\n## Equations",
    );
    expect(notesOf(text)).toEqual([
      "The program does not use these parameters: grid_rows, use_inductive.",
      "The program does not use these values: signal.",
    ]);
    const [note] = checkGnn(text).diagnostics.filter(({ code }) => code === "N007");
    expect(note!.message).toBe("Programs do not use these parameters: grid_rows, use_inductive.");
    expect(notesOf(TWO_ROOM)).toEqual([]);
  });

  test.each([
    ["num_obs: 3", "num_obs is 3, but the tensors have 2; the program uses the tensors."],
    ["num_state_factors: 2", undefined],
    ["num_state_factors: 3", "num_state_factors is 3, but the tensors have 2; the program uses the tensors."],
    ["num_hidden_states_factors: [2]", undefined],
    ["num_agents: 2", "num_agents is 2, but the tensors have 1; the program uses the tensors."],
  ])("compares the stated sizes with the tensors: %s", (line, note) => {
    expect(notesOf(stating(line))).toEqual(note === undefined ? [] : [note]);
  });
});

describe("a run", () => {
  test("a run uses the settings of the model, and options override them", async () => {
    const text = stating("num_timesteps: 6", "random_seed: 11", "policy_len: 2", "gamma: 3");
    const run = await runOf(text);
    expect(run).toMatchObject({ steps: 6, seed: 11, policyLength: 2, gamma: 3 });
    expect(run.agents[0]!.steps[0]!.policies).toHaveLength(4);
    expect(run).toEqual(await runOf(TWO_ROOM, { steps: 6, seed: 11, policyLength: 2, gamma: 3 }));
    expect(await runOf(text, { steps: 2, seed: 1, policyLength: 1, gamma: 1 })).toMatchObject({
      steps: 2,
      seed: 1,
      policyLength: 1,
      gamma: 1,
    });
    expect(await runOf(stating("gamma: 3"), { method: "pymdp-0.0.7", steps: 1 })).toMatchObject({ gamma: 3 });
  });

  test("a run has at most 1,000 steps, and notes if the model states more", async () => {
    const run = await runOf(stating("num_timesteps: 5000"));
    expect(run.steps).toBe(1000);
    expect(run.notes).toContain("The model states 5,000 steps; a run has at most 1,000.");
  });

  test("a run applies ω to the likelihoods of the agent, but not to those of its world", async () => {
    const program = programOf(stating("ω: 2")) as DiscreteProgram;
    const [modality] = program.agents[0]!.modalities;
    expect([...modality!.A.data]).toEqual([0.9, 0.1, 0.1, 0.9]);
    expect(modality!.believedA!.data[0]).toBeCloseTo(0.81 / 0.82, 12);
    const { agents } = await simulate(program, { steps: 1, observations: [[0]] });
    expect(agents[0]!.steps[0]!.beliefs[0]![0]).toBeCloseTo(0.81 / 0.82, 12);
    expect(program.notes).toEqual([
      "ω is 2: the agent's likelihoods are A to the power of 2, normalised; its world keeps A.",
    ]);
  });

  test("a run samples actions if the model states it, with the stated precision", async () => {
    const text = stating("action_selection: stochastic", "alpha: 0");
    const { agents } = await runOf(text, { steps: 60 });
    expect(new Set(agents[0]!.steps.map(({ action }) => action[0])).size).toBe(2);
    expect((await runOf(stating("alpha: 2"), { steps: 1 })).notes).toContain(
      "α is not used, because the agent chooses the best action.",
    );
  });

  test("a run shows labels of actions, states and outcomes", async () => {
    const run = await runOf(
      stating("action_labels: stay,go", 'state_labels: ["cold", "warm"]', "observation_labels: {low, high}"),
      { steps: 3 },
    );
    expect(toRunText(run)).toMatch(/^0 +(?:cold|warm) +(?:low|high) +(?:cold|warm) \(\d\.\d+\) +(?:stay|go) /m);
    expect(toRunData(run)).toMatchObject({
      agents: [
        {
          factors: [{ action_labels: ["stay", "go"], state_labels: ["cold", "warm"] }],
          steps: [{ action_labels: [expect.stringMatching(/^(?:stay|go)$/)] }, {}, {}],
        },
      ],
    });
    expect(notesOf(stating("action_labels: a,b,c"))).toEqual([
      "action_labels: the number of labels is 3, and the tensors have 2 actions; the program shows numbers.",
    ]);
  });
});

describe("a rendered program", () => {
  const STATED = ["num_timesteps: 6", "random_seed: 11", "policy_len: 2", "gamma: 3", "inference_iterations: 5"];

  test.each(Object.keys(RENDER_TARGETS).filter((name) => name !== "stan"))(
    "the program contains the settings: %s",
    (name) => {
      const text = renderProgram(
        programOf(stating(...STATED, "ω: 2", "action_labels: stay,go")),
        name as RenderTargetName,
      );
      expect(text).toMatch(/STEPS = 6$/m);
      expect(text).toMatch(/SEED = 11$/m);
      expect(text).toMatch(/POLICY_LENGTH = 2$/m);
      expect(text).toMatch(/GAMMA = 3(?:\.0)?$/m);
      expect(text).toContain(
        name === "rxinfer" ? "believed_A = Any[" : "tensor([0.9878048780487805, 0.01219512195121951",
      );
      if (name !== "rxinfer") {
        expect(text).toMatch(/^ITERATIONS = 5$/m);
        expect(text).toContain('"action_labels": [["stay", "go"]]');
      }
    },
  );

  test("the program notes settings that its target cannot use", () => {
    const notes = (text: string, target: RenderTargetName): readonly string[] =>
      renderWithNotes(programOf(text), target).notes;
    const text = stating("action_selection: stochastic", "alpha: 3", "action_labels: stay,go");
    expect(notes(text, "numpy")).toEqual([]);
    expect(notes(text, "rxinfer")).toEqual([
      "The program for RxInfer.jl does not use these settings of the model: action selection, action labels.",
      "α is not used, because the program chooses the best action.",
    ]);
    const linear = LINEAR.replace(
      "## Connections",
      "## ModelParameters\nnum_timesteps: 4\nrandom_seed: 1\ngamma: 2\n## Connections",
    );
    expect(notes(linear, "stan")).toEqual([
      "The program does not use these parameters: gamma.",
      "The program for Stan does not use these settings of the model: steps and seed.",
    ]);
    expect(renderProgram(programOf(linear), "stan")).toContain("cov_matrix");
    expect(renderProgram(programOf(text), "numpy")).toMatch(/^STOCHASTIC = True$/m);
  });
});
