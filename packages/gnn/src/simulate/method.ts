import type { AgentModel } from "./agent-model.ts";
import type { Beliefs } from "./vectors.ts";

/** One observation, and the beliefs before it. */
export interface Evidence {
  readonly outcomes: readonly number[];
  readonly prior: Beliefs;
}

/** Negative expected free energy of a policy: the sum of its two parts. */
export interface PolicyScore {
  /** Expected information about states. */
  readonly epistemic: number;
  /** Expected preference of outcomes. */
  readonly pragmatic: number;
}

/** How an agent infers, plans and acts: one version of a library, its numbers included. */
export interface Method {
  /** Times that beliefs are updated at most. */
  readonly iterations: number;
  /** Default precision of policies. */
  readonly gamma: number;
  /** Precision of actions where one is drawn. */
  readonly alpha: number;
  /** Returns the beliefs after an observation, with at most this many iterations. */
  infer(model: AgentModel, evidence: Evidence, iterations: number): Beliefs;
  /** Returns the variational free energy of beliefs: their complexity minus their accuracy. */
  freeEnergy(model: AgentModel, evidence: Evidence, beliefs: Beliefs): number;
  /** Returns the negative expected free energy of a policy. */
  score(model: AgentModel, beliefs: Beliefs, policy: readonly (readonly number[])[]): PolicyScore;
  /** The logarithm of a habit. */
  logarithm(probability: number): number;
  /** The probabilities of actions for each factor, of which one is taken. */
  readonly choosesPolicies: boolean;
}
