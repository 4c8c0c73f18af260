import type { AgentModel } from "./agent-model.ts";
import type { Method } from "./method.ts";
import { outer, type Beliefs } from "./vectors.ts";

/** Returns the expected information gain about learnt likelihoods and transitions under a policy. */
export function parameterGain(
  model: AgentModel,
  beliefs: Beliefs,
  { method, policy }: { readonly method: Method; readonly policy: readonly (readonly number[])[] },
): number {
  let gain = 0;
  let before = beliefs;
  for (const actions of policy) {
    const after = model.expectedStates(before, actions);
    gain += likelihoodGain(model, after, method) + transitionGain(model, method, { before, after, actions });
    before = after;
  }
  return gain;
}

function likelihoodGain(model: AgentModel, states: Beliefs, method: Method): number {
  const expected = model.expectedOutcomes(states);
  return model.modalities.reduce((sum, { factors }, modality) => {
    const counts = model.countsA(modality);
    if (!counts) return sum;
    return sum + expectedGain(method, { counts, after: expected[modality]!, before: factors.map((f) => states[f]!) });
  }, 0);
}

interface Transition {
  readonly before: Beliefs;
  readonly after: Beliefs;
  readonly actions: readonly number[];
}

function transitionGain(model: AgentModel, method: Method, { before, after, actions }: Transition): number {
  return model.factors.reduce((sum, { actions: count, from }, factor) => {
    const all = model.countsB(factor);
    if (!all) return sum;
    const counts = all.filter((_, at) => at % count === actions[factor]!);
    return sum + expectedGain(method, { counts, after: after[factor]!, before: from.map((one) => before[one]!) });
  }, 0);
}

interface CountedTable {
  /** Counts: row × states before. */
  readonly counts: Float64Array;
  /** Probability of each row. */
  readonly after: Float64Array;
  readonly before: Beliefs;
}

function expectedGain(method: Method, { counts, after, before }: CountedTable): number {
  const joint = outer(before);
  let gain = 0;
  for (let at = 0; at < joint.length; at += 1) {
    let columnSum = 0;
    for (let row = 0; row < after.length; row += 1) columnSum += counts[row * joint.length + at]!;
    for (let row = 0; row < after.length; row += 1)
      gain += joint[at]! * after[row]! * method.parameterGain(counts[row * joint.length + at]!, columnSum);
  }
  return gain;
}
