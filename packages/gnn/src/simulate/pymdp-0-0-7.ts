import type { AgentModel } from "./agent-model.ts";
import type { Evidence, Method, PolicyScore } from "./method.ts";
import { contract, dot, outer, softmax, type Beliefs } from "./vectors.ts";

/** Constant that PyMDP 0.0.7 adds before taking logarithms. */
const SMALL = 1e-16;
/** Probability below which states are omitted from the information gain. It also keeps logarithms finite. */
const NEGLIGIBLE = Math.exp(-16);
const ITERATIONS = 10;
/** Change of the free energy below which updates stop. */
const TOLERANCE = 0.001;

/**
 * PyMDP 0.0.7 with its default values: fixed-point iteration over the joint likelihood; actions are chosen by their
 * marginal probabilities.
 */
export const pymdp007: Method = {
  iterations: ITERATIONS,
  gamma: 16,
  alpha: 16,
  choosesPolicies: false,
  logarithm,
  infer,
  freeEnergy: (model, { outcomes, prior }, beliefs) =>
    complexity(
      beliefs,
      prior.map((belief) => belief.map(logarithm)),
    ) - contract(jointLikelihood(model, outcomes).map(logarithm), beliefs, -1)[0]!,
  score,
  // The approximation for large counts.
  parameterGain: (count, sum) => 1 / (count + SMALL) - 1 / (sum + SMALL),
};

function logarithm(probability: number): number {
  return Math.log(probability + SMALL);
}

function infer(model: AgentModel, { outcomes, prior }: Evidence, iterations: number): Beliefs {
  const evidence = jointLikelihood(model, outcomes).map(logarithm);
  const logPrior = prior.map((belief) => belief.map(logarithm));
  const beliefs: Float64Array[] = prior.map((belief) => new Float64Array(belief.length).fill(1 / belief.length));
  if (beliefs.length === 1) return [softmax(evidence.map((value, state) => value + logPrior[0]![state]!))];
  let energy = complexity(beliefs, logPrior);
  let change = Infinity;
  for (let iteration = 0; iteration < iterations && change >= TOLERANCE; iteration += 1) {
    // All factors are updated with the beliefs from the beginning of the iteration.
    const before: Beliefs = [...beliefs];
    for (let factor = 0; factor < beliefs.length; factor += 1) {
      const message = contract(evidence, before, factor);
      beliefs[factor] = softmax(message.map((value, state) => value + logPrior[factor]![state]!));
    }
    const next = complexity(beliefs, logPrior) - contract(evidence, beliefs, -1)[0]!;
    change = Math.abs(energy - next);
    energy = next;
  }
  return beliefs;
}

/** Returns the joint likelihood of all observations for each state of all factors. */
function jointLikelihood(model: AgentModel, outcomes: readonly number[]): Float64Array {
  const sizes = model.factors.map(({ states }) => states);
  const joint = new Float64Array(sizes.reduce((product, size) => product * size, 1)).fill(1);
  for (const [modality, { factors }] of model.modalities.entries()) {
    const likelihood = model.likelihood(modality, outcomes[modality]!);
    eachState(sizes, (states, at) => (joint[at]! *= likelihood[placeOf(states, factors, sizes)]!));
  }
  return joint;
}

function placeOf(states: readonly number[], factors: readonly number[], sizes: readonly number[]): number {
  return factors.reduce((place, factor) => place * sizes[factor]! + states[factor]!, 0);
}

/** Visits every joint state in order; `states` is one array that is reused. */
function eachState(sizes: readonly number[], visit: (states: readonly number[], at: number) => void): void {
  const states = sizes.map(() => 0);
  const count = sizes.reduce((product, size) => product * size, 1);
  for (let at = 0; at < count; at += 1) {
    visit(states, at);
    for (let factor = sizes.length - 1; factor >= 0; factor -= 1) {
      states[factor]! += 1;
      if (states[factor]! < sizes[factor]!) break;
      states[factor] = 0;
    }
  }
}

function complexity(beliefs: Beliefs, logPrior: Beliefs): number {
  return beliefs.reduce(
    (sum, belief, factor) => sum + dot(belief, belief.map(logarithm)) - dot(belief, logPrior[factor]!),
    0,
  );
}

function score(model: AgentModel, beliefs: Beliefs, policy: readonly (readonly number[])[]): PolicyScore {
  let [epistemic, pragmatic] = [0, 0];
  let states = beliefs;
  for (const actions of policy) {
    states = model.expectedStates(states, actions);
    for (const [modality, outcomes] of model.expectedOutcomes(states).entries())
      pragmatic += dot(outcomes, softmax(model.modalities[modality]!.C).map(logarithm));
    epistemic += informationGain(model, states);
  }
  return { epistemic, pragmatic };
}

/**
 * Returns the information gain. It is computed jointly over all modalities, so time and memory grow with the product of
 * their outcomes.
 */
function informationGain(model: AgentModel, states: Beliefs): number {
  const sizes = model.factors.map(({ states: size }) => size);
  const joint = outer(states);
  const count = model.modalities.reduce((product, { outcomes }) => product * outcomes, 1);
  const expected = new Float64Array(count);
  let gain = 0;
  eachState(sizes, (current, at) => {
    const probability = joint[at]!;
    if (probability <= NEGLIGIBLE) return;
    const outcomes = outer(model.modalities.map((_, modality) => outcomesOf(model, modality, current)));
    for (let outcome = 0; outcome < count; outcome += 1) {
      expected[outcome]! += probability * outcomes[outcome]!;
      gain += probability * outcomes[outcome]! * Math.log(outcomes[outcome]! + NEGLIGIBLE);
    }
  });
  return gain - dot(expected, expected.map(logarithm));
}

function outcomesOf(model: AgentModel, modality: number, states: readonly number[]): Float64Array {
  const { factors, outcomes } = model.modalities[modality]!;
  const sizes = model.factors.map(({ states: size }) => size);
  const place = placeOf(states, factors, sizes);
  const size = model.A[modality]!.length / outcomes;
  return Float64Array.from({ length: outcomes }, (_, outcome) => model.A[modality]![outcome * size + place]!);
}
