import type { Tensor } from "../checks/tensor.ts";
import type { Settings } from "../settings/settings.ts";

/** A model as numbers, ready to run on any engine. */
export type Program = DiscreteProgram | LinearGaussianProgram;

interface ProgramHeader {
  /** Title of the file. May contain any text. */
  readonly title: string;
  /**
   * Notes about statements of the model that no program uses, and about ambiguous statements and their interpretation.
   */
  readonly notes: readonly string[];
  /** The model's statements about its run. */
  readonly settings: Settings;
}

export interface DiscreteProgram extends ProgramHeader {
  readonly kind: "discrete";
  /**
   * Arrangement of the agents: one agent, several independent agents, or levels, the lowest first. Each level sets the
   * prior of the level below.
   */
  readonly arrangement: "single" | "agents" | "levels";
  readonly agents: readonly DiscreteAgent[];
  /** Number of steps of each level for one step of the level above; empty if there are no levels. */
  readonly ratios: readonly number[];
  /**
   * Number of steps in the window of message passing (MMP). Absent: only the current state is inferred, by fixed-point
   * iteration.
   */
  readonly window?: number;
}

export interface DiscreteAgent {
  /** Name of the agent, such as `level1` or `agent2`; empty if there is only one. */
  readonly name: string;
  readonly factors: readonly Factor[];
  readonly modalities: readonly Modality[];
  /** Habit: a probability for each policy, or for each action. */
  readonly E?: Float64Array;
}

/** One factor of the hidden state. */
export interface Factor {
  /** Name in messages, such as `B_f0`. */
  readonly name: string;
  readonly states: number;
  readonly actions: number;
  /** Factors on which the next state depends, in the order of B's dimensions. Usually only the factor itself. */
  readonly from: readonly number[];
  /** Transitions: next state × previous state of each of these factors × action. */
  readonly B: Tensor;
  readonly D: Float64Array;
  /** Dirichlet counts of B, if B is learnt. */
  readonly countsB?: Tensor;
  /** Dirichlet counts of D, if D is learnt. */
  readonly countsD?: Float64Array;
  /** Labels of the actions and the states, if the model states them. */
  readonly actionLabels?: readonly string[];
  readonly stateLabels?: readonly string[];
}

/** One observation modality. */
export interface Modality {
  readonly name: string;
  readonly outcomes: number;
  /** Factors on which the outcome depends, in the order of A's dimensions. */
  readonly factors: readonly number[];
  /** Likelihood: outcome × state of each of these factors. */
  readonly A: Tensor;
  /** The agent's own likelihood, if its precision ω makes it differ from that of the world. */
  readonly believedA?: Tensor;
  /** Labels of the outcomes, if the model states them. */
  readonly labels?: readonly string[];
  /** Preferences as log probabilities. */
  readonly C: Float64Array;
  /** Dirichlet counts of A, if A is learnt. */
  readonly countsA?: Tensor;
}

/** A linear-Gaussian model: x' = F x + noise with covariance Q, y = H x + noise with covariance R. */
export interface LinearGaussianProgram extends ProgramHeader {
  readonly kind: "linear-gaussian";
  readonly states: number;
  readonly outcomes: number;
  readonly F: Tensor;
  readonly H: Tensor;
  readonly Q: Tensor;
  readonly R: Tensor;
  readonly mean: Float64Array;
  readonly covariance: Tensor;
}
