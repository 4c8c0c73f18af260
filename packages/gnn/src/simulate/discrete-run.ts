import type { DiscreteProgram, Factor, Modality } from "../programs/program.ts";
import { Actor } from "./actor.ts";
import { METHODS, type RunSettings } from "./options.ts";
import { Random } from "./random.ts";
import type { AgentReplay } from "./replay.ts";
import type { SimulatedAgent, SimulatedFactor, SimulatedModality, SimulatedStep } from "./simulation.ts";
import { World } from "./world.ts";

/** Time of uninterrupted work after which the run yields to the event loop, in milliseconds. */
const BREATH_MS = 20;

export interface RunOptions {
  readonly settings: RunSettings;
  /** Rows that replace the observations or actions of each agent. */
  readonly replays: readonly AgentReplay[];
  /** True if each step contains the epistemic and the pragmatic part of the scores. */
  readonly hasParts: boolean;
  readonly signal?: AbortSignal | undefined;
  readonly onStep?: ((done: number, total: number) => void) | undefined;
}

/** Runs the agents of a discrete program step by step. */
export class DiscreteRun {
  readonly #program: DiscreteProgram;
  readonly #options: RunOptions;
  readonly #actors: readonly Actor[];
  readonly #worlds: readonly (World | undefined)[];
  readonly #rows: readonly SimulatedStep[][];
  readonly #random: Random;
  #breath = performance.now();

  constructor(program: DiscreteProgram, options: RunOptions) {
    const { settings, replays } = options;
    this.#program = program;
    this.#options = options;
    this.#random = new Random(settings.seed);
    const actorOptions = { ...settings, method: METHODS[settings.method], window: program.window };
    this.#actors = program.agents.map((agent) => new Actor(agent, actorOptions));
    const acting = program.arrangement === "levels" ? program.agents.slice(0, 1) : program.agents;
    this.#worlds = acting.map((agent, index) =>
      replays[index]!.observations ? undefined : new World(agent, this.#random),
    );
    this.#rows = program.agents.map(() => []);
  }

  async whole(): Promise<readonly SimulatedAgent[]> {
    for (let step = 0; step < this.#options.settings.steps; step += 1) {
      this.#options.signal?.throwIfAborted();
      if (this.#program.arrangement === "levels") await this.#levels(step);
      else for (const index of this.#actors.keys()) await this.#inWorld(index, step);
      this.#options.onStep?.(step + 1, this.#options.settings.steps);
    }
    return this.#program.agents.map(({ name, factors, modalities }, index) => ({
      name,
      factors: factors.map(factorOf),
      modalities: modalities.map(modalityOf),
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
    const observation = this.#options.replays[index]!.observations?.[step] ?? world!.observe();
    const action = await this.#turn(index, { step, observation, ...(states ? { states } : {}) });
    world?.act(action);
  }

  /**
   * Runs one step of each level that has a turn. A level sets the prior of the level below for its period, and at the
   * end of the period observes the state of that level.
   */
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
    const plan = await actor.plan(() => this.#breathe());
    const policies = actor.weigh(plan.scores);
    const chosen = actor.choose(policies, this.#random);
    const rows = this.#rows[index]!;
    const action = this.#options.replays[index]!.actions?.[rows.length] ?? chosen;
    const { scores, ...parts } = plan;
    const { beliefs, freeEnergy } = actor;
    rows.push({ ...seen, beliefs, freeEnergy, scores, ...(this.#options.hasParts ? parts : {}), policies, action });
    actor.act(action);
    return action;
  }

  /** Yields to the event loop. Throws if the caller has cancelled. */
  async #breathe(): Promise<void> {
    if (performance.now() - this.#breath < BREATH_MS) return;
    await new Promise((resume) => setImmediate(resume));
    this.#options.signal?.throwIfAborted();
    this.#breath = performance.now();
  }
}

function factorOf({ name, states, actions, actionLabels, stateLabels }: Factor): SimulatedFactor {
  return {
    name,
    states,
    actions,
    ...(actionLabels ? { actionLabels } : {}),
    ...(stateLabels ? { stateLabels } : {}),
  };
}

function modalityOf({ name, outcomes, labels }: Modality): SimulatedModality {
  return { name, outcomes, ...(labels ? { labels } : {}) };
}
