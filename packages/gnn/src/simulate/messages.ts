import type { AgentModel } from "./agent-model.ts";
import { accuracy } from "./pymdp-1.ts";
import { contract, dot, outer, softmax, type Beliefs } from "./vectors.ts";

/** Constant that PyMDP 1.x adds before taking logarithms, with 64-bit numbers. */
const SMALLEST = 2 ** -52;

/** Window of steps for message passing. */
export interface Window {
  /** Observations of each step. */
  readonly seen: readonly (readonly number[])[];
  /** Actions between consecutive steps. */
  readonly done: readonly (readonly number[])[];
  /** Beliefs before the first step. */
  readonly start: Beliefs;
}

/**
 * Returns the beliefs at each step by the marginal message passing of PyMDP 1.x: all steps and factors together, with
 * this number of iterations.
 */
export function passMessages(model: AgentModel, window: Window, iterations: number): readonly Beliefs[] {
  const evidence = window.seen.map((outcomes) =>
    model.modalities.map((_, modality) => model.likelihood(modality, outcomes[modality]!).map(logarithm)),
  );
  let beliefs: readonly Beliefs[] = window.seen.map(() =>
    window.start.map((belief) => new Float64Array(belief.length).fill(1 / belief.length)),
  );
  for (let iteration = 0; iteration < iterations; iteration += 1) {
    const pass = new Pass(model, window, { evidence, beliefs });
    beliefs = beliefs.map((at, step) => at.map((_, factor) => pass.belief(step, factor)));
  }
  return beliefs;
}

/** Returns the free energy of the beliefs at all steps of a window, assuming independent steps. */
export function windowFreeEnergy(model: AgentModel, window: Window, beliefs: readonly Beliefs[]): number {
  return beliefs.reduce((sum, at, step) => {
    const negativeEntropy = at.reduce((total, belief) => total + dot(belief, belief.map(logarithm)), 0);
    const expected = at.reduce(
      (total, _, factor) => total + expectedPrior(model, window, { beliefs, step, factor }),
      0,
    );
    return sum + negativeEntropy - expected - accuracy(model, window.seen[step]!, at);
  }, 0);
}

interface WindowPlace {
  readonly beliefs: readonly Beliefs[];
  readonly step: number;
  readonly factor: number;
}

/** Returns the expected logarithm of the prior of a factor, or of its transition from the step before. */
function expectedPrior(model: AgentModel, window: Window, { beliefs, step, factor }: WindowPlace): number {
  const belief = beliefs[step]![factor]!;
  if (step === 0) return dot(belief, window.start[factor]!.map(logarithm));
  const { actions, from } = model.factors[factor]!;
  const action = window.done[step - 1]![factor]!;
  const joint = outer([belief, ...from.map((one) => beliefs[step - 1]![one]!)]);
  return joint.reduce(
    (sum, probability, at) => sum + probability * logarithm(model.B[factor]![at * actions + action]!),
    0,
  );
}

function logarithm(probability: number): number {
  return Math.log(Math.max(probability, SMALLEST));
}

/** One iteration: computes the messages of each step and factor from its neighbours. */
class Pass {
  readonly #model: AgentModel;
  readonly #window: Window;
  readonly #evidence: readonly (readonly Float64Array[])[];
  readonly #beliefs: readonly Beliefs[];

  constructor(
    model: AgentModel,
    window: Window,
    state: { readonly evidence: readonly (readonly Float64Array[])[]; readonly beliefs: readonly Beliefs[] },
  ) {
    this.#model = model;
    this.#window = window;
    this.#evidence = state.evidence;
    this.#beliefs = state.beliefs;
  }

  belief(step: number, factor: number): Float64Array {
    const seen = this.#ofWhatWasSeen(step, factor);
    const before = this.#ofBefore(step, factor);
    if (step === this.#beliefs.length - 1) return softmax(seen.map((value, state) => value + before[state]!));
    const after = this.#ofAfter(step, factor);
    // Each transition between two steps contributes half to each step.
    return softmax(seen.map((value, state) => value + 0.5 * (before[state]! + after[state]!)));
  }

  #ofWhatWasSeen(step: number, factor: number): Float64Array {
    const total = new Float64Array(this.#model.factors[factor]!.states);
    for (const [modality, { factors }] of this.#model.modalities.entries()) {
      const place = factors.indexOf(factor);
      if (place === -1) continue;
      const others = factors.map((one) => this.#beliefs[step]![one]!);
      add(total, contract(this.#evidence[step]![modality]!, others, place));
    }
    return total;
  }

  #ofBefore(step: number, factor: number): Float64Array {
    if (step === 0) return this.#window.start[factor]!.map(logarithm);
    const action = this.#window.done[step - 1]![factor]!;
    return this.#model.expectedState(factor, this.#beliefs[step - 1]!, action).map(logarithm);
  }

  #ofAfter(step: number, factor: number): Float64Array {
    const total = new Float64Array(this.#model.factors[factor]!.states);
    for (const [led, { from }] of this.#model.factors.entries()) {
      const place = from.indexOf(factor);
      if (place !== -1) add(total, this.#message(step, led, place).map(logarithm));
    }
    return total;
  }

  /** Returns how well each state of the factor at `place` explains the next state of the factor `led`. */
  #message(step: number, led: number, place: number): Float64Array {
    const { states, actions, from } = this.#model.factors[led]!;
    const action = this.#window.done[step]![led]!;
    const before = from.map((one) => this.#beliefs[step]![one]!);
    const size = outer(before).length;
    const total = new Float64Array(before[place]!.length);
    for (let to = 0; to < states; to += 1) {
      const row = this.#model.B[led]!.subarray(to * size * actions, (to + 1) * size * actions);
      const ways = contract(
        Float64Array.from({ length: size }, (_, at) => row[at * actions + action]!),
        before,
        place,
      );
      const sum = Math.max(
        ways.reduce((all, way) => all + way, 0),
        SMALLEST,
      );
      const went = this.#beliefs[step + 1]![led]![to]!;
      for (let state = 0; state < ways.length; state += 1) total[state]! += (ways[state]! / sum) * went;
    }
    return total;
  }
}

function add(total: Float64Array, more: Float64Array): void {
  for (let at = 0; at < total.length; at += 1) total[at]! += more[at]!;
}
