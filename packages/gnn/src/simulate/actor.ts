import { AgentModel, allPolicies } from "./agent-model.ts";
import type { DiscreteAgent } from "../programs/program.ts";
import { passMessages, windowFreeEnergy } from "./messages.ts";
import type { Method } from "./method.ts";
import { parameterGain } from "./parameter-gain.ts";
import type { Random } from "./random.ts";
import { highest, softmax, type Beliefs } from "./vectors.ts";
import type { LearningRates, ScoreWeights } from "./weights.ts";

export interface ActorOptions {
  readonly method: Method;
  readonly policyLength: number;
  readonly gamma: number;
  readonly alpha: number;
  readonly isStochastic: boolean;
  /** Maximum number of iterations of an inference. */
  readonly iterations: number;
  /** Number of steps in the window of message passing; undefined without message passing. */
  readonly window: number | undefined;
  readonly learning: LearningRates;
  readonly weights: ScoreWeights;
}

/** Result of an agent for one observation. */
export interface ActorStep {
  readonly observation: readonly number[];
  readonly beliefs: Beliefs;
  /** Variational free energy of the beliefs. With message passing, that of the whole window. */
  readonly freeEnergy: number;
  /** Negative expected free energy of each policy. */
  readonly scores: Float64Array;
  /** Parts of each score: information gain and expected preference. */
  readonly epistemic?: Float64Array;
  readonly pragmatic?: Float64Array;
  /** Part of each score: information gain about learnt A and B, if the model uses it. */
  readonly parameters?: Float64Array;
  readonly policies: Float64Array;
  readonly action: readonly number[];
}

/** Negative expected free energy of each policy, with its weighted parts. */
export interface PolicyScores {
  readonly scores: Float64Array;
  readonly epistemic: Float64Array;
  readonly pragmatic: Float64Array;
  readonly parameters?: Float64Array;
}

/** An agent: infers from observations, learns, plans and acts. */
export class Actor {
  readonly model: AgentModel;
  readonly #options: ActorOptions;
  #prior: Beliefs;
  #beliefs: Beliefs | undefined;
  #freeEnergy = 0;
  #action: readonly number[] | undefined;
  /**
   * Window of earlier steps, if message passing is used: the prior before it, and the observations and actions in it.
   */
  #start: Beliefs;
  #seen: readonly (readonly number[])[] = [];
  #done: readonly (readonly number[])[] = [];

  constructor(agent: DiscreteAgent, options: ActorOptions) {
    this.model = new AgentModel(agent, allPolicies(agent.factors, options.policyLength), options.learning);
    this.#options = options;
    this.#prior = this.model.priors;
    this.#start = this.#prior;
  }

  /** Beliefs before the next observation. */
  get prior(): Beliefs {
    return this.#prior;
  }

  /** Starts a new period with this prior. Earlier observations are dropped. */
  expect(prior: Beliefs): void {
    this.#prior = prior;
    this.#start = prior;
    this.#seen = [];
    this.#done = [];
  }

  see(observation: readonly number[]): void {
    const before = this.#beliefs;
    this.#beliefs = this.#infer(observation);
    this.model.learnA(observation, this.#beliefs);
    if (before && this.#action) this.model.learnB(before, this.#beliefs, this.#action);
  }

  #infer(observation: readonly number[]): Beliefs {
    const { method, window, iterations } = this.#options;
    if (window === undefined) {
      const evidence = { outcomes: observation, prior: this.#prior };
      const beliefs = method.infer(this.model, evidence, iterations);
      this.#freeEnergy = method.freeEnergy(this.model, evidence, beliefs);
      return beliefs;
    }
    this.#seen = [...this.#seen, observation].slice(-window);
    this.#done = this.#done.slice(this.#done.length - this.#seen.length + 1);
    const steps = { seen: this.#seen, done: this.#done, start: this.#start };
    const beliefs = passMessages(this.model, steps, iterations);
    this.#freeEnergy = windowFreeEnergy(this.model, steps, beliefs);
    return beliefs.at(-1)!;
  }

  /** Free energy of the beliefs about the last observation. */
  get freeEnergy(): number {
    return this.#freeEnergy;
  }

  get beliefs(): Beliefs {
    return this.#beliefs ?? this.#prior;
  }

  /** Scores all policies; awaits `breathe` between them. */
  async plan(breathe: () => Promise<void>): Promise<PolicyScores> {
    const { method, weights } = this.#options;
    const { length } = this.model.policies;
    const [epistemic, pragmatic, parameters] = Array.from({ length: 3 }, () => new Float64Array(length));
    for (const [index, policy] of this.model.policies.entries()) {
      const score = method.score(this.model, this.beliefs, policy);
      epistemic![index] = weights.epistemic * score.epistemic;
      pragmatic![index] = weights.pragmatic * score.pragmatic;
      if (weights.hasParameterGain) parameters![index] = parameterGain(this.model, this.beliefs, { method, policy });
      await breathe();
    }
    const scores = epistemic!.map((value, index) => value + pragmatic![index]! + parameters![index]!);
    return {
      scores,
      epistemic: epistemic!,
      pragmatic: pragmatic!,
      ...(weights.hasParameterGain ? { parameters: parameters! } : {}),
    };
  }

  weigh(scores: Float64Array): Float64Array {
    const { method, gamma } = this.#options;
    return softmax(scores.map((score, index) => gamma * score + method.logarithm(this.model.habit[index]!)));
  }

  choose(weights: Float64Array, random: Random): readonly number[] {
    const { method } = this.#options;
    if (method.choosesPolicies) return this.model.policies[this.#pick(weights, random)]![0]!;
    return this.model.factors.map(({ actions }, factor) => {
      const marginal = new Float64Array(actions);
      for (const [index, policy] of this.model.policies.entries()) marginal[policy[0]![factor]!]! += weights[index]!;
      return this.#pick(marginal, random);
    });
  }

  #pick(weights: Float64Array, random: Random): number {
    const { isStochastic, method, alpha } = this.#options;
    if (!isStochastic) return highest(weights);
    return random.choose(softmax(weights.map((weight) => alpha * method.logarithm(weight))));
  }

  act(action: readonly number[]): void {
    this.#action = action;
    if (this.#options.window !== undefined) this.#done = [...this.#done, action];
    this.#prior = this.model.expectedStates(this.beliefs, action);
  }
}
