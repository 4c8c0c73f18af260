import type { Tensor } from "../checks/tensor.ts";
import type { Settings } from "../settings/settings.ts";

/** A model in numbers, ready to run on any engine. */
export type Program = DiscreteProgram | LinearGaussianProgram;

interface ProgramHeader {
  /** The title that the file gives; any text. */
  readonly title: string;
  /** Statements of the model that no program uses, and readings that were chosen among several, as sentences. */
  readonly notes: readonly string[];
  /** The model's statements about its run. */
  readonly settings: Settings;
}

export interface DiscreteProgram extends ProgramHeader {
  readonly kind: "discrete";
  /**
   * One agent; several independent agents; or levels, the lowest first, each of which sets the prior of the one below.
   */
  readonly arrangement: "single" | "agents" | "levels";
  readonly agents: readonly DiscreteAgent[];
  /** Steps of each level for one of the level above it; empty but for levels. */
  readonly ratios: readonly number[];
  /** Steps that messages pass over (MMP). Without it only the state now is inferred, by fixed-point iteration. */
  readonly window?: number;
}

export interface DiscreteAgent {
  /** `level1`, `agent2`; empty where there is one only. */
  readonly name: string;
  readonly factors: readonly Factor[];
  readonly modalities: readonly Modality[];
  /** Habit: a probability for each policy, or for each action. */
  readonly E?: Float64Array;
}

/** One factor of the hidden state. */
export interface Factor {
  /** As messages call it: `B_f0`. */
  readonly name: string;
  readonly states: number;
  readonly actions: number;
  /** The factors that its next state depends on, in the order of B's dimensions: mostly itself alone. */
  readonly from: readonly number[];
  /** next × previous state of each of these factors × action */
  readonly B: Tensor;
  readonly D: Float64Array;
  /** Counts for B, where B is learnt. */
  readonly countsB?: Tensor;
  /** Counts for D, where D is learnt. */
  readonly countsD?: Float64Array;
  /** Labels of the actions and the states, if the model states them. */
  readonly actionLabels?: readonly string[];
  readonly stateLabels?: readonly string[];
}

/** One observation modality. */
export interface Modality {
  readonly name: string;
  readonly outcomes: number;
  /** The factors that it depends on, in the order of A's dimensions. */
  readonly factors: readonly number[];
  /** outcome × state of each of these factors */
  readonly A: Tensor;
  /** The agent's own likelihood, if its precision ω makes it differ from that of the world. */
  readonly believedA?: Tensor;
  /** Labels of the outcomes, if the model states them. */
  readonly labels?: readonly string[];
  /** Log preferences. */
  readonly C: Float64Array;
  /** Counts for A, where A is learnt. */
  readonly countsA?: Tensor;
}

/** x' = F x + noise of Q, y = H x + noise of R. */
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
