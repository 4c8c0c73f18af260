import { programCosts } from "../estimates/program-costs.ts";
import { expectHabits } from "../programs/habits.ts";
import { expectLegacy } from "../programs/legacy.ts";
import { expectPlanning, expectWhole } from "../programs/planning.ts";
import type { DiscreteProgram, Program } from "../programs/program.ts";
import { ProgramError } from "../programs/program-error.ts";
import { Actor, type ActorStep } from "./actor.ts";
import { SIMULATION_LIMITS } from "./limits.ts";
import type { Method } from "./method.ts";
import { pymdp007 } from "./pymdp-0-0-7.ts";
import { pymdp1 } from "./pymdp-1.ts";
import { Random } from "./random.ts";
import { World } from "./world.ts";

/** Libraries whose agents are simulated, with their defaults. */
export const METHODS = { "pymdp-1": pymdp1, "pymdp-0.0.7": pymdp007 } as const satisfies Record<string, Method>;
export type MethodName = keyof typeof METHODS;

export interface SimulateOptions {
  /** @default the horizon of the model, else 20 */
  readonly steps?: number;
  /** @default 0 */
  readonly seed?: number;
  /** @default "pymdp-1" */
  readonly method?: MethodName;
  /** Actions of a policy. @default 1 */
  readonly policyLength?: number;
  /** Precision of policies. @default that of the library: 1, and 16 of 0.0.7 */
  readonly gamma?: number;
  /** The best action, or one drawn by how good they are. @default "deterministic" */
  readonly actionSelection?: "deterministic" | "stochastic";
  /** Observations that replace those of the model's own world: an outcome for each modality at each step. */
  readonly observations?: readonly (readonly number[])[];
  /** Actions that replace the agent's own. */
  readonly actions?: readonly (readonly number[])[];
  readonly signal?: AbortSignal;
  readonly onStep?: (done: number, total: number) => void;
}

export interface SimulatedStep extends ActorStep {
  readonly step: number;
  /** True states, if the model's own world generates the observations. */
  readonly states?: readonly number[];
}

export interface SimulatedAgent {
  readonly name: string;
  readonly factors: readonly { readonly name: string; readonly states: number; readonly actions: number }[];
  readonly modalities: readonly { readonly name: string; readonly outcomes: number }[];
  readonly steps: readonly SimulatedStep[];
  /** Learnt initial state of each factor; undefined for factors whose D is not learnt. */
  readonly learntD?: readonly (Float64Array | undefined)[];
}

export interface Simulation {
  readonly title: string;
  readonly method: MethodName;
  readonly seed: number;
  readonly steps: number;
  readonly notes: readonly string[];
  readonly agents: readonly SimulatedAgent[];
}

/** Default number of steps. */
const USUAL_STEPS = 20;
/** Milliseconds of work after which others have their turn. */
const BREATH_MS = 20;

/**
 * Runs a discrete model. Rejects with a `ProgramError` where the model cannot be run or would take too long, and with
 * the reason of the signal where that is aborted.
 */
export async function simulate(program: Program, options: SimulateOptions = {}): Promise<Simulation> {
  if (program.kind !== "discrete")
    throw new ProgramError("F", "F, H, Q and R are a linear-Gaussian model; what is simulated here has A and B.");
  const { method = "pymdp-1", seed = 0, policyLength = 1 } = options;
  const steps = stepsOf(program, options);
  expectWhole("steps", steps, 1);
  expectWhole("seed", seed, 0);
  expectPlanning({ policyLength, gamma: options.gamma });
  expectBounds(program, { steps, policyLength, iterations: METHODS[method].iterations });
  expectReplay(program, options, steps);
  expectHabits(program, policyLength);
  if (method === "pymdp-0.0.7") expectLegacy(program);
  const run = new SimulationRun(program, { ...options, method, seed, policyLength }, steps);
  return { title: program.title, method, seed, steps, notes: program.notes, agents: await run.whole() };
}

function stepsOf({ horizon }: DiscreteProgram, { steps, observations }: SimulateOptions): number {
  return steps ?? observations?.length ?? Math.min(horizon ?? USUAL_STEPS, SIMULATION_LIMITS.steps);
}

interface Sizes {
  readonly steps: number;
  readonly policyLength: number;
  readonly iterations: number;
}

function expectBounds(program: DiscreteProgram, { steps, policyLength, iterations }: Sizes): void {
  const { policies, operationsPerStep } = programCosts(program, { policyLength, iterations });
  const numbers = program.agents.reduce(
    (sum, { factors }) => sum + factors.reduce((states, one) => states + one.states, 0),
    2 * policies,
  );
  const checks = [
    ["steps", steps, SIMULATION_LIMITS.steps],
    ["actions of a policy", policyLength, SIMULATION_LIMITS.policyLength],
    ["policies", policies, SIMULATION_LIMITS.policies],
    ["operations", operationsPerStep * steps, SIMULATION_LIMITS.operations],
    ["numbers of the result", numbers * steps, SIMULATION_LIMITS.numbers],
  ] as const;
  for (const [what, wanted, limit] of checks)
    if (wanted > limit)
      throw new ProgramError(
        what,
        `The simulation would take ${Math.ceil(wanted).toLocaleString("en")} ${what}, more than ` +
          `${limit.toLocaleString("en")}. Take fewer steps, shorter policies or a smaller model.`,
      );
}

function expectReplay(program: DiscreteProgram, { observations, actions }: SimulateOptions, steps: number): void {
  if (!observations && !actions) return;
  const [agent, second] = program.agents;
  if (second) throw new ProgramError(second.name, "Observations and actions are replayed for one agent only.");
  const outcomes = agent!.modalities.map(({ name, outcomes: count }) => ({ name, count }));
  const choices = agent!.factors.map(({ name, actions: count }) => ({ name, count }));
  if (observations) expectRows("observations", { rows: observations, columns: outcomes, steps });
  if (actions) expectRows("actions", { rows: actions, columns: choices, steps });
}

interface Rows {
  readonly rows: readonly (readonly number[])[];
  readonly columns: readonly { readonly name: string; readonly count: number }[];
  readonly steps: number;
}

function expectRows(what: string, { rows, columns, steps }: Rows): void {
  if (rows.length < steps)
    throw new ProgramError(what, `There are ${rows.length} ${what} for ${steps} steps; give one for each.`);
  for (const [step, row] of rows.entries())
    for (const [index, { name, count }] of columns.entries()) {
      const value = row[index];
      if (row.length === columns.length && Number.isInteger(value) && value! >= 0 && value! < count) continue;
      throw new ProgramError(
        what,
        `Step ${step} of ${what} is [${row.join(", ")}]; it must have ${columns.length} whole numbers, that for ` +
          `${name} from 0 to ${count - 1}.`,
      );
    }
}

class SimulationRun {
  readonly #program: DiscreteProgram;
  readonly #options: SimulateOptions;
  readonly #steps: number;
  readonly #actors: readonly Actor[];
  readonly #worlds: readonly World[];
  readonly #rows: readonly SimulatedStep[][];
  readonly #random: Random;
  #breath = performance.now();

  constructor(
    program: DiscreteProgram,
    options: SimulateOptions & { readonly method: MethodName; readonly seed: number; readonly policyLength: number },
    steps: number,
  ) {
    const method = METHODS[options.method];
    const { gamma = method.gamma, policyLength, actionSelection, seed } = options;
    const isStochastic = actionSelection === "stochastic";
    this.#program = program;
    this.#options = options;
    this.#steps = steps;
    this.#random = new Random(seed);
    const { window } = program;
    this.#actors = program.agents.map(
      (agent) => new Actor(agent, { method, policyLength, gamma, isStochastic, window }),
    );
    const acting = program.arrangement === "levels" ? program.agents.slice(0, 1) : program.agents;
    this.#worlds = options.observations ? [] : acting.map((agent) => new World(agent, this.#random));
    this.#rows = program.agents.map(() => []);
  }

  async whole(): Promise<readonly SimulatedAgent[]> {
    for (let step = 0; step < this.#steps; step += 1) {
      this.#options.signal?.throwIfAborted();
      if (this.#program.arrangement === "levels") await this.#levels(step);
      else for (const index of this.#actors.keys()) await this.#inWorld(index, step);
      this.#options.onStep?.(step + 1, this.#steps);
    }
    return this.#program.agents.map(({ name, factors, modalities }, index) => ({
      name,
      factors: factors.map(({ name: factor, states, actions }) => ({ name: factor, states, actions })),
      modalities: modalities.map(({ name: modality, outcomes }) => ({ name: modality, outcomes })),
      steps: this.#rows[index]!,
      ...this.#learnt(index),
    }));
  }

  #learnt(index: number): Pick<SimulatedAgent, "learntD"> {
    const first = this.#rows[index]![0]?.beliefs;
    const learntD = first && this.#actors[index]!.model.learntD(first);
    return learntD?.some((vector) => vector) ? { learntD } : {};
  }

  async #inWorld(index: number, step: number): Promise<void> {
    const world = this.#worlds[index];
    const states = world?.states;
    const observation = this.#options.observations?.[step] ?? world!.observe();
    const action = await this.#turn(index, { step, observation, ...(states ? { states } : {}) });
    world?.act(action);
  }

  /** Each level sets the prior of the one below for its period, and sees at the end of it which state that is in. */
  async #levels(step: number): Promise<void> {
    const periods = this.#program.ratios.map((_, level) =>
      this.#program.ratios.slice(0, level + 1).reduce((product, ratio) => product * ratio, 1),
    );
    for (let level = this.#actors.length - 1; level > 0; level -= 1) {
      if (step % periods[level - 1]! !== 0) continue;
      const upper = this.#actors[level]!;
      this.#actors[level - 1]!.expect(upper.model.expectedOutcomes(upper.prior));
    }
    await this.#inWorld(0, step);
    for (let level = 1; level < this.#actors.length; level += 1) {
      if ((step + 1) % periods[level - 1]! !== 0) break;
      const [below] = this.#actors[level - 1]!.beliefs;
      await this.#turn(level, { step, observation: [below!.indexOf(Math.max(...below!))] });
    }
  }

  async #turn(
    index: number,
    seen: { readonly step: number; readonly observation: readonly number[]; readonly states?: readonly number[] },
  ): Promise<readonly number[]> {
    const actor = this.#actors[index]!;
    actor.see(seen.observation);
    const scores = await actor.plan(() => this.#breathe());
    const policies = actor.weigh(scores);
    const chosen = actor.choose(policies, this.#random);
    const action = this.#options.actions?.[seen.step] ?? chosen;
    this.#rows[index]!.push({ ...seen, beliefs: actor.beliefs, scores, policies, action });
    actor.act(action);
    return action;
  }

  /** Yields to the event loop, and throws if the caller has cancelled. */
  async #breathe(): Promise<void> {
    if (performance.now() - this.#breath < BREATH_MS) return;
    await new Promise((resume) => setImmediate(resume));
    this.#options.signal?.throwIfAborted();
    this.#breath = performance.now();
  }
}
