import type { DiscreteAgent, Factor, Modality } from "../programs/program.ts";
import { normalised } from "../programs/shapes.ts";
import { contract, outer, type Beliefs } from "./vectors.ts";
import type { LearningRates } from "./weights.ts";

/** A and B of an agent, which change if they are learnt. */
export class AgentModel {
  readonly factors: readonly Factor[];
  readonly modalities: readonly Modality[];
  readonly policies: readonly (readonly (readonly number[])[])[];
  readonly habit: Float64Array;
  /** Likelihood of each modality: outcome × states. */
  readonly A: Float64Array[];
  /** Transitions of each factor: next × previous × action. */
  readonly B: Float64Array[];
  readonly #countsA: (Float64Array | undefined)[];
  readonly #countsB: (Float64Array | undefined)[];

  readonly #rates: LearningRates;

  constructor(
    { factors, modalities, E }: DiscreteAgent,
    policies: AgentModel["policies"],
    rates: LearningRates = { A: 1, B: 1, D: 1 },
  ) {
    this.#rates = rates;
    this.factors = factors;
    this.modalities = modalities;
    this.policies = policies;
    this.habit = E ?? new Float64Array(policies.length).fill(1 / policies.length);
    this.#countsA = modalities.map(({ countsA }) => countsA?.data);
    this.#countsB = factors.map(({ countsB }) => countsB?.data);
    this.A = modalities.map(({ A, believedA, countsA }) => (countsA ? normalised(countsA) : (believedA ?? A)).data);
    this.B = factors.map(({ B, countsB }) => (countsB ? normalised(countsB) : B).data);
  }

  get priors(): Beliefs {
    return this.factors.map(({ D, countsD }) =>
      countsD ? normalised({ shape: [countsD.length], data: countsD }).data : D,
    );
  }

  /** Returns the likelihood of an outcome for each state of the factors on which its modality depends. */
  likelihood(modality: number, outcome: number): Float64Array {
    const size = this.A[modality]!.length / this.modalities[modality]!.outcomes;
    return this.A[modality]!.subarray(outcome * size, (outcome + 1) * size);
  }

  /** Returns the expected distribution of each modality. */
  expectedOutcomes(beliefs: Beliefs): readonly Float64Array[] {
    return this.modalities.map(({ factors, outcomes }, modality) => {
      const seen = factors.map((factor) => beliefs[factor]!);
      return Float64Array.from(
        { length: outcomes },
        (_, outcome) => contract(this.likelihood(modality, outcome), seen, -1)[0]!,
      );
    });
  }

  /** Returns the expected states after an action for each factor. */
  expectedStates(beliefs: Beliefs, actions: readonly number[]): Beliefs {
    return this.factors.map((_, factor) => this.expectedState(factor, beliefs, actions[factor]!));
  }

  expectedState(factor: number, beliefs: Beliefs, action: number): Float64Array {
    const { states, actions, from } = this.factors[factor]!;
    const before = outer(from.map((one) => beliefs[one]!));
    const B = this.B[factor]!;
    const next = new Float64Array(states);
    for (let to = 0; to < states; to += 1)
      for (let at = 0; at < before.length; at += 1)
        next[to]! += B[(to * before.length + at) * actions + action]! * before[at]!;
    return next;
  }

  /** Returns the initial states learnt from the first beliefs, for factors whose D is learnt. */
  learntD(first: Beliefs): readonly (Float64Array | undefined)[] {
    return this.factors.map(({ countsD }, factor) => {
      const counts = countsD?.map((count, state) => count + this.#rates.D * first[factor]![state]!);
      return counts && normalised({ shape: [counts.length], data: counts }).data;
    });
  }

  /** Dirichlet counts of the likelihood of a modality, if it is learnt. */
  countsA(modality: number): Float64Array | undefined {
    return this.#countsA[modality];
  }

  /** Dirichlet counts of the transitions of a factor, if they are learnt. */
  countsB(factor: number): Float64Array | undefined {
    return this.#countsB[factor];
  }

  /** Adds the observation to the counts of the likelihood, weighted by the beliefs. */
  learnA(outcomes: readonly number[], beliefs: Beliefs): void {
    for (const [modality, { factors, A }] of this.modalities.entries()) {
      const counts = this.#countsA[modality];
      if (!counts) continue;
      const joint = outer(factors.map((factor) => beliefs[factor]!));
      const next = Float64Array.from(counts);
      for (let at = 0; at < joint.length; at += 1)
        next[outcomes[modality]! * joint.length + at]! += this.#rates.A * joint[at]!;
      this.#countsA[modality] = next;
      this.A[modality] = normalised({ shape: A.shape, data: next }).data;
    }
  }

  /** Adds the transition between two beliefs, under the actions taken, to the counts. */
  learnB(before: Beliefs, after: Beliefs, taken: readonly number[]): void {
    for (const [index, { states, actions, from, B }] of this.factors.entries()) {
      const counts = this.#countsB[index];
      if (!counts) continue;
      const joint = outer(from.map((one) => before[one]!));
      const next = Float64Array.from(counts);
      for (let to = 0; to < states; to += 1)
        for (let at = 0; at < joint.length; at += 1)
          next[(to * joint.length + at) * actions + taken[index]!]! += this.#rates.B * after[index]![to]! * joint[at]!;
      this.#countsB[index] = next;
      this.B[index] = normalised({ shape: B.shape, data: next }).data;
    }
  }
}

/**
 * Returns every sequence of actions of this length, in PyMDP's order: the last action of the last factor varies
 * fastest.
 */
export function allPolicies(factors: readonly Factor[], length: number): AgentModel["policies"] {
  let sequences: number[][] = [[]];
  for (let step = 0; step < length; step += 1)
    for (const { actions } of factors)
      sequences = sequences.flatMap((sequence) =>
        Array.from({ length: actions }, (_, action) => [...sequence, action]),
      );
  return sequences.map((sequence) =>
    Array.from({ length }, (_, step) => sequence.slice(step * factors.length, (step + 1) * factors.length)),
  );
}
