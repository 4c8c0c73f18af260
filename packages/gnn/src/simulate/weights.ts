import type { Settings } from "../settings/settings.ts";

/** Factors of the counts that one step adds to the Dirichlet counts of A, B and D. */
export interface LearningRates {
  readonly A: number;
  readonly B: number;
  readonly D: number;
}

/** Weights of the parts of a score. */
export interface ScoreWeights {
  readonly epistemic: number;
  readonly pragmatic: number;
  /** True if the information gain about learnt A and B is a part. */
  readonly hasParameterGain: boolean;
}

/** Returns the learning rates that the model states, 1 by default. */
export function learningRates({ learningRateA = 1, learningRateB = 1, learningRateD = 1 }: Settings): LearningRates {
  return { A: learningRateA, B: learningRateB, D: learningRateD };
}

/** Returns the weights that the model states. */
export function scoreWeights({
  epistemicWeight = 1,
  pragmaticWeight = 1,
  hasParameterGain = false,
}: Settings): ScoreWeights {
  return { epistemic: epistemicWeight, pragmatic: pragmaticWeight, hasParameterGain };
}
