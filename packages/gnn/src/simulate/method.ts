import type { AgentModel } from "./agent-model.ts";
import type { Beliefs } from "./vectors.ts";

/** One observation, and the beliefs before it. */
export interface Evidence {
  readonly outcomes: readonly number[];
  readonly prior: Beliefs;
}

/** Negative expected free energy of a policy: the sum of two parts. */
export interface PolicyScore {
  /** Expected information gain about states. */
  readonly epistemic: number;
  /** Expected preference of outcomes. */
  readonly pragmatic: number;
}

/** Algorithms of an agent for inference, planning and acting, with default values, as in one version of a library. */
export interface Method {
  /** Maximum number of updates of the beliefs. */
  readonly iterations: number;
  /** Default precision of policies. */
  readonly gamma: number;
  /** Default precision with which actions are sampled. */
  readonly alpha: number;
  /** Returns the beliefs after an observation, with at most this many iterations. */
  infer(model: AgentModel, evidence: Evidence, iterations: number): Beliefs;
  /** Returns the variational free energy of beliefs: their complexity minus their accuracy. */
  freeEnergy(model: AgentModel, evidence: Evidence, beliefs: Beliefs): number;
  /** Returns the negative expected free energy of a policy. */
  score(model: AgentModel, beliefs: Beliefs, policy: readonly (readonly number[])[]): PolicyScore;
  /** Returns the information gain about the parameter of one Dirichlet count and its column's sum. */
  parameterGain(count: number, columnSum: number): number;
  /** Returns the logarithm of a habit. */
  logarithm(probability: number): number;
  /** True if an agent chooses a whole policy; false if it chooses actions for each factor by their probabilities. */
  readonly choosesPolicies: boolean;
}
