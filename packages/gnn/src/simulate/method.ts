import type { AgentModel } from "./agent-model.ts";
import type { Beliefs } from "./vectors.ts";

/** How an agent infers, plans and acts: one version of a library, its numbers included. */
export interface Method {
  /** Times that beliefs are updated at most. */
  readonly iterations: number;
  /** Default precision of policies. */
  readonly gamma: number;
  /** Precision of actions where one is drawn. */
  readonly alpha: number;
  /** Returns the beliefs after an observation, from the prior. */
  infer(model: AgentModel, outcomes: readonly number[], prior: Beliefs): Beliefs;
  /** The negative expected free energy of a policy. */
  score(model: AgentModel, beliefs: Beliefs, policy: readonly (readonly number[])[]): number;
  /** The logarithm of a habit. */
  logarithm(probability: number): number;
  /** The probabilities of actions for each factor, of which one is taken. */
  readonly choosesPolicies: boolean;
}
