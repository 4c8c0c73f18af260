import type { DiscreteAgent, Factor, Modality } from "../programs/program.ts";
import { normalised } from "../programs/shapes.ts";
import { contract, outer, type Beliefs } from "./vectors.ts";

/** What an agent believes of how things are: its own A and B, which change where they are learnt. */
export class AgentModel {
  readonly factors: readonly Factor[];
  readonly modalities: readonly Modality[];
  readonly policies: readonly (readonly (readonly number[])[])[];
  readonly habit: Float64Array;
  /** outcome × states for each modality */
  readonly A: Float64Array[];
  /** next × previous × action for each factor */
  readonly B: Float64Array[];
  readonly #countsA: (Float64Array | undefined)[];
  readonly #countsB: (Float64Array | undefined)[];

  constructor({ factors, modalities, E }: DiscreteAgent, policies: AgentModel["policies"]) {
    this.factors = factors;
    this.modalities = modalities;
    this.policies = policies;
    this.habit = E ?? new Float64Array(policies.length).fill(1 / policies.length);
    this.#countsA = modalities.map(({ countsA }) => countsA?.data);
    this.#countsB = factors.map(({ countsB }) => countsB?.data);
    this.A = modalities.map(({ A, countsA }) => (countsA ? normalised(countsA) : A).data);
    this.B = factors.map(({ B, countsB }) => (countsB ? normalised(countsB) : B).data);
  }

  get priors(): Beliefs {
    return this.factors.map(({ D, countsD }) =>
      countsD ? normalised({ shape: [countsD.length], data: countsD }).data : D,
    );
  }

  /** The likelihood of an outcome for each state of the factors that its modality depends on. */
  likelihood(modality: number, outcome: number): Float64Array {
    const size = this.A[modality]!.length / this.modalities[modality]!.outcomes;
    return this.A[modality]!.subarray(outcome * size, (outcome + 1) * size);
  }

  /** What is to be seen of each modality. */
  expectedOutcomes(beliefs: Beliefs): readonly Float64Array[] {
    return this.modalities.map(({ factors, outcomes }, modality) => {
      const seen = factors.map((factor) => beliefs[factor]!);
      return Float64Array.from(
        { length: outcomes },
        (_, outcome) => contract(this.likelihood(modality, outcome), seen, -1)[0]!,
      );
    });
  }

  /** Where the states go under an action for each factor. */
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

  /** What the first beliefs say of where factors start, where that is learnt. */
  learntD(first: Beliefs): readonly (Float64Array | undefined)[] {
    return this.factors.map(({ countsD }, factor) => {
      const counts = countsD?.map((count, state) => count + first[factor]![state]!);
      return counts && normalised({ shape: [counts.length], data: counts }).data;
    });
  }

  /** Counts what was seen in which states. */
  learnA(outcomes: readonly number[], beliefs: Beliefs): void {
    for (const [modality, { factors, A }] of this.modalities.entries()) {
      const counts = this.#countsA[modality];
      if (!counts) continue;
      const joint = outer(factors.map((factor) => beliefs[factor]!));
      const next = Float64Array.from(counts);
      for (let at = 0; at < joint.length; at += 1) next[outcomes[modality]! * joint.length + at]! += joint[at]!;
      this.#countsA[modality] = next;
      this.A[modality] = normalised({ shape: A.shape, data: next }).data;
    }
  }

  /** Counts which states came of which under the actions between them. */
  learnB(before: Beliefs, after: Beliefs, taken: readonly number[]): void {
    for (const [index, { states, actions, from, B }] of this.factors.entries()) {
      const counts = this.#countsB[index];
      if (!counts) continue;
      const joint = outer(from.map((one) => before[one]!));
      const next = Float64Array.from(counts);
      for (let to = 0; to < states; to += 1)
        for (let at = 0; at < joint.length; at += 1)
          next[(to * joint.length + at) * actions + taken[index]!]! += after[index]![to]! * joint[at]!;
      this.#countsB[index] = next;
      this.B[index] = normalised({ shape: B.shape, data: next }).data;
    }
  }
}

/** Every sequence of actions of that length, the last action of the last factor fastest, as PyMDP has them. */
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
