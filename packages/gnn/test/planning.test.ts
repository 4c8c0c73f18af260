import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { parseGnn } from "../src/language/parse.ts";
import { viewOf } from "../src/language/view.ts";
import type { Program } from "../src/programs/program.ts";
import { readProgram } from "../src/programs/read-program.ts";
import { renderProgram } from "../src/render/targets.ts";
import type { SimulateOptions } from "../src/simulate/options.ts";
import { plotRun } from "../src/simulate/plot.ts";
import { toRunData, toRunText } from "../src/simulate/report.ts";
import { simulate } from "../src/simulate/simulate.ts";
import type { DiscreteSimulation, LinearSimulation } from "../src/simulate/simulation.ts";
import { LINEAR, MESSAGES, TWO_AGENTS, TWO_FACTORS, TWO_LEVELS } from "./models.ts";

const TWO_ROOM = readFileSync(new URL("../../../test/fixtures/gnn/two_room.md", import.meta.url), "utf8");

function programOf(text: string): Program {
  return readProgram(viewOf(parseGnn(text).file.models[0]!));
}

/** Returns the sample with a habit. */
function withHabit(E: readonly number[], ...parameters: readonly string[]): string {
  return TWO_ROOM.replace("## Connections", `E[${E.length}]\n## Connections`)
    .replace("## Equations", `E={(${E.join(",")})}\n## Equations`)
    .replace("## Footer", `${parameters.join("\n")}\n## Footer`);
}

async function runOf(text: string, options: SimulateOptions = {}): Promise<DiscreteSimulation> {
  return (await simulate(programOf(text), options)) as DiscreteSimulation;
}

/** Returns the weights of the policies at the first step from the habit alone, without the scores. */
async function habitOf(text: string, options: SimulateOptions = {}): Promise<readonly number[]> {
  const { agents } = await runOf(text, { steps: 1, gamma: 0, ...options });
  return [...agents[0]!.steps[0]!.policies].map((value) => Number(value.toFixed(9)));
}

describe("a habit and the length of policies", () => {
  test("E with a number for each policy determines the length of policies", async () => {
    const text = withHabit([0.4, 0.3, 0.2, 0.1]);
    expect(await habitOf(text)).toEqual([0.4, 0.3, 0.2, 0.1]);
    expect((await runOf(text, { steps: 1 })).notes).toContain("Policies have 2 actions, because E has 4 numbers.");
    expect(renderProgram(programOf(text), "numpy")).toMatch(/^POLICY_LENGTH = 2$/m);
  });

  test("with a number of E for each action, the habit of a policy is the product over its actions", async () => {
    expect(await habitOf(withHabit([0.8, 0.2], "policy_len: 2"))).toEqual([0.64, 0.16, 0.16, 0.04]);
    expect(await habitOf(withHabit([0.8, 0.2]), { policyLength: 3 })).toEqual([
      0.512, 0.128, 0.128, 0.032, 0.128, 0.032, 0.032, 0.008,
    ]);
    expect(renderProgram(programOf(withHabit([0.8, 0.2], "policy_len: 2")), "pymdp")).toContain(
      '"E": tensor([0.6400000000000001, 0.16000000000000003, 0.16000000000000003, 0.04000000000000001], [4])',
    );
  });

  test("refuses an E of another length, and names both lengths that fit", async () => {
    await expect(runOf(withHabit([0.5, 0.3, 0.2]))).rejects.toThrow(
      "E has 3 numbers, and there are 2 policies of 1 action. Write a number for each policy, or for each of the 2 " +
        "actions.",
    );
    await expect(runOf(withHabit([0.4, 0.3, 0.2, 0.1], "policy_len: 3"))).rejects.toThrow(
      "there are 8 policies of 3 actions",
    );
  });

  test("num_policies determines the policy length if no other setting does", () => {
    const stating = (...lines: readonly string[]): Program =>
      programOf(TWO_ROOM.replace("## Footer", `${lines.join("\n")}\n## Footer`));
    expect(stating("num_policies: 8").settings.policyLength).toBe(3);
    expect(stating("num_policies: 2").settings.policyLength).toBeUndefined();
    expect(stating("num_policies: 8", "policy_len: 2").notes).toEqual([
      "num_policies is 8, but the tensors have 4; the program uses the tensors.",
    ]);
  });
});

describe("the free energies of a step", () => {
  test.each(["pymdp-1", "pymdp-0.0.7"] as const)("free energies follow their definitions: %s", async (method) => {
    const { agents } = await runOf(TWO_ROOM, { method, steps: 1, observations: [[1]] });
    const [step] = agents[0]!.steps;
    // With exact inference, F is the surprise of the observation, which has probability 1/2.
    expect(step!.freeEnergy).toBeCloseTo(Math.log(2), 9);
    for (const [policy, score] of step!.scores.entries())
      expect(step!.epistemic![policy]! + step!.pragmatic![policy]!).toBeCloseTo(score, 12);
    const entropy = -(0.9 * Math.log(0.9) + 0.1 * Math.log(0.1));
    // Policy of staying: beliefs (0.1, 0.9), so outcomes (0.18, 0.82).
    const expected = -(0.18 * Math.log(0.18) + 0.82 * Math.log(0.82)) - entropy;
    expect(step!.epistemic![0]).toBeCloseTo(expected, 6);
    const preference = method === "pymdp-1" ? 0.82 : 0.82 - Math.log(1 + Math.E);
    expect(step!.pragmatic![0]).toBeCloseTo(preference, 6);
  });

  test("free energies of several factors and of message passing are finite and in the result", async () => {
    for (const text of [TWO_FACTORS, MESSAGES]) {
      const run = await runOf(text, { steps: 4 });
      for (const { freeEnergy } of run.agents[0]!.steps) expect(Number.isFinite(freeEnergy)).toBe(true);
      expect(toRunData(run)).toMatchObject({
        policy_length: 1,
        agents: [{ steps: [{ free_energy: expect.any(Number), epistemic_value: expect.any(Array) }, {}, {}, {}] }],
      });
    }
  });
});

describe("a replay of several agents", () => {
  const rows = (...values: readonly number[]): number[][] => values.map((value) => [value]);

  test("assigns the rows to each agent by its name", async () => {
    const observations = { agent1: rows(0, 1, 0), agent2: rows(1, 1, 0) };
    const { agents, steps } = await runOf(TWO_AGENTS, { observations, actions: { agent2: rows(1, 0, 1) } });
    expect(steps).toBe(3);
    expect(agents.map((agent) => agent.steps.map(({ observation }) => observation[0]))).toEqual([
      [0, 1, 0],
      [1, 1, 0],
    ]);
    expect(agents[1]!.steps.map(({ action }) => action[0])).toEqual([1, 0, 1]);
    expect(agents[0]!.steps[0]!.states).toBeUndefined();
  });

  test("generates the observations of an agent for which the replay has no rows", async () => {
    const { agents } = await runOf(TWO_AGENTS, { observations: { agent2: rows(1, 1) } });
    expect(agents[0]!.steps[0]!.states).toBeDefined();
    expect(agents[1]!.steps.map(({ observation }) => observation)).toEqual(rows(1, 1));
  });

  test("assigns rows to the lowest of several levels, and actions to the upper levels", async () => {
    const { agents } = await runOf(TWO_LEVELS, {
      observations: rows(0, 1, 0, 1, 0, 1),
      actions: { level2: rows(0, 0) },
    });
    expect(agents[0]!.steps.map(({ observation }) => observation[0])).toEqual([0, 1, 0, 1, 0, 1]);
    expect(agents[1]!.steps).toHaveLength(2);
  });

  test.each<[string, SimulateOptions, string]>([
    [TWO_AGENTS, { observations: rows(0) }, 'Give their observations by name: {"agent1": […], "agent2": […]}.'],
    [TWO_AGENTS, { actions: { agent3: rows(0) } }, 'The model has no agent "agent3". Give actions of agent1, agent2.'],
    [TWO_AGENTS, { observations: { agent2: rows(9) } }, "Step 0 of observations of agent2 is [9]"],
    [TWO_AGENTS, { steps: 2, actions: { agent1: rows(0) } }, "There are 1 actions of agent1 for 2 steps"],
    [
      TWO_LEVELS,
      { observations: { level2: rows(0) } },
      "level2 observes level1, so its observations cannot be replayed.",
    ],
    [TWO_ROOM, { observations: { me: rows(0) } }, "The model has one agent. Give its observations as a list of rows."],
  ])("refuses rows of a wrong shape (%#)", async (text, options, message) => {
    await expect(runOf(text, options)).rejects.toThrow(message);
  });
});

describe("a linear-Gaussian model", () => {
  const runFilter = async (options: SimulateOptions = {}): Promise<LinearSimulation> =>
    (await simulate(programOf(LINEAR), options)) as LinearSimulation;

  test("a linear-Gaussian model runs as a filter, with the same result for the same seed", async () => {
    const run = await runFilter({ steps: 30, seed: 3 });
    expect(run).toEqual(await runFilter({ steps: 30, seed: 3 }));
    expect(run.filtered).toHaveLength(30);
    expect(run.filtered[0]!.state).toBeDefined();
    const errors = run.filtered.map(({ state, mean }) => Math.abs(state![0]! - mean[0]!));
    const spreads = run.filtered.map(({ covariance }) => Math.sqrt(covariance[0]!));
    expect(errors.every((error, step) => error < 5 * spreads[step]!)).toBe(true);
    expect(toRunText(run)).toMatch(/^step +state +seen +believed +F$/m);
    expect(toRunData(run)).toMatchObject({
      library: "kalman-filter",
      agents: [{ steps: run.filtered.map(() => ({})) }],
    });
    expect(plotRun(run)).toMatch(/^<svg .*<polyline/);
  });

  test("the posterior of a one-dimensional model equals its closed form", async () => {
    const text = `## GNNSection
l
## StateSpaceBlock
F[1,1]
H[1,1]
Q[1,1]
R[1,1]
prior_mean[1]
prior_cov[1,1]
## Connections
F-H
## InitialParameterization
F={(0.5)}
H={(2)}
Q={(0.25)}
R={(1)}
prior_mean={(1)}
prior_cov={(4)}
`;
    const run = (await simulate(programOf(text), { observations: [[3], [1]] })) as LinearSimulation;
    const [first, second] = run.filtered;
    // S = 2·4·2 + 1 = 17, K = 8/17.
    expect(first!.mean[0]).toBeCloseTo(1 + (8 / 17) * (3 - 2), 12);
    expect(first!.covariance[0]).toBeCloseTo(4 - (8 / 17) * 8, 12);
    expect(first!.freeEnergy).toBeCloseTo(0.5 * (1 / 17 + Math.log(17) + Math.log(2 * Math.PI)), 12);
    const [mean, spread] = [0.5 * first!.mean[0]!, 0.25 * first!.covariance[0]! + 0.25];
    const gain = (2 * spread) / (4 * spread + 1);
    expect(second!.mean[0]).toBeCloseTo(mean + gain * (1 - 2 * mean), 12);
    expect(first!.state).toBeUndefined();
  });

  test("refuses actions, and observations of a wrong length", async () => {
    await expect(runFilter({ actions: [[0]] })).rejects.toThrow("A linear-Gaussian model has no actions.");
    await expect(runFilter({ observations: [[1, 2, 3, 4, 5, 6, 7]] })).rejects.toThrow(
      "Step 0 of observations is [1, 2, 3",
    );
    await expect(runFilter({ steps: 2, observations: [[0]] })).rejects.toThrow("There are 1 observations for 2 steps");
    await expect(runFilter({ steps: 1001 })).rejects.toThrow("1,001 steps, more than 1,000");
  });
});
