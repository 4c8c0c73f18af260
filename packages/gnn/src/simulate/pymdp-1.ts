import type { AgentModel } from "./agent-model.ts";
import { digamma } from "./digamma.ts";
import type { Evidence, Method, PolicyScore } from "./method.ts";
import { contract, dot, softmax, type Beliefs } from "./vectors.ts";

/** Constant that PyMDP 1.x adds before taking logarithms, with 64-bit numbers. */
const SMALLEST = 2 ** -52;
const ITERATIONS = 16;

/** PyMDP 1.x with its default values: factorised fixed-point iteration; a whole policy is chosen. */
export const pymdp1: Method = {
  iterations: ITERATIONS,
  gamma: 1,
  alpha: 1,
  choosesPolicies: true,
  logarithm,
  infer,
  freeEnergy,
  score,
  // Expected Kullback-Leibler divergence of the counts after one more observation, as PyMDP 1.x computes it.
  parameterGain: (count, sum) => Math.log(sum) - Math.log(count) + digamma(count + 1) - digamma(sum + 1),
};

function logarithm(probability: number): number {
  return Math.log(Math.max(probability, SMALLEST));
}

function infer(model: AgentModel, { outcomes, prior }: Evidence, iterations: number): Beliefs {
  const evidence = model.modalities.map((_, modality) =>
    model.likelihood(modality, outcomes[modality]!).map(logarithm),
  );
  const logPrior = prior.map((belief) => belief.map(logarithm));
  let posterior: Beliefs = prior.map((belief) => new Float64Array(belief.length));
  // With one factor the first update is exact, and further updates would repeat it.
  for (let iteration = 0; iteration < (prior.length === 1 ? 1 : iterations); iteration += 1)
    posterior = update(model, { evidence, logPrior, beliefs: posterior.map(softmax) });
  return posterior.map(softmax);
}

function freeEnergy(model: AgentModel, { outcomes, prior }: Evidence, beliefs: Beliefs): number {
  const complexity = beliefs.reduce(
    (sum, belief, factor) => sum + dot(belief, belief.map(logarithm)) - dot(belief, prior[factor]!.map(logarithm)),
    0,
  );
  return complexity - accuracy(model, outcomes, beliefs);
}

/** Returns the expected logarithm of the likelihood of an observation. */
export function accuracy(model: AgentModel, outcomes: readonly number[], beliefs: Beliefs): number {
  return model.modalities.reduce((sum, { factors }, modality) => {
    const seen = factors.map((factor) => beliefs[factor]!);
    return sum + contract(model.likelihood(modality, outcomes[modality]!).map(logarithm), seen, -1)[0]!;
  }, 0);
}

interface Messages {
  readonly evidence: readonly Float64Array[];
  readonly logPrior: Beliefs;
  readonly beliefs: Beliefs;
}

function update(model: AgentModel, { evidence, logPrior, beliefs }: Messages): Beliefs {
  const next = logPrior.map((belief) => Float64Array.from(belief));
  for (const [modality, { factors }] of model.modalities.entries()) {
    const seen = factors.map((factor) => beliefs[factor]!);
    for (const [at, factor] of factors.entries()) {
      const message = contract(evidence[modality]!, seen, at);
      for (let state = 0; state < message.length; state += 1) next[factor]![state]! += message[state]!;
    }
  }
  return next;
}

function score(model: AgentModel, beliefs: Beliefs, policy: readonly (readonly number[])[]): PolicyScore {
  let [epistemic, pragmatic] = [0, 0];
  let states = beliefs;
  for (const actions of policy) {
    states = model.expectedStates(states, actions);
    for (const [modality, outcomes] of model.expectedOutcomes(states).entries()) {
      epistemic += entropy(outcomes) - ambiguity(model, modality, states);
      pragmatic += dot(outcomes, model.modalities[modality]!.C);
    }
  }
  return { epistemic, pragmatic };
}

function entropy(probabilities: Float64Array): number {
  return -probabilities.reduce((sum, probability) => sum + probability * logarithm(probability), 0);
}

/** Returns the entropy of outcomes that remains if the states are known. */
function ambiguity(model: AgentModel, modality: number, states: Beliefs): number {
  const { factors } = model.modalities[modality]!;
  const uncertain = model.A[modality]!.map((probability) => -probability * logarithm(probability));
  const size = uncertain.length / model.modalities[modality]!.outcomes;
  const entropies = new Float64Array(size);
  for (let at = 0; at < uncertain.length; at += 1) entropies[at % size]! += uncertain[at]!;
  const seen = factors.map((factor) => states[factor]!);
  return contract(entropies, seen, -1)[0]!;
}
