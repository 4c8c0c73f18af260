import type { DiscreteAgent } from "../programs/program.ts";
import type { Random } from "./random.ts";

/** The environment of an agent: the model as written, with sampled states. */
export class World {
  readonly #agent: DiscreteAgent;
  readonly #random: Random;
  #states: readonly number[];

  constructor(agent: DiscreteAgent, random: Random) {
    this.#agent = agent;
    this.#random = random;
    this.#states = agent.factors.map(({ D }) => random.choose(D));
  }

  get states(): readonly number[] {
    return this.#states;
  }

  observe(): readonly number[] {
    return this.#agent.modalities.map(({ A, outcomes, factors }) => {
      const size = A.data.length / outcomes;
      const sizes = factors.map((factor) => this.#agent.factors[factor]!.states);
      const place = factors.reduce((at, factor, index) => at * sizes[index]! + this.#states[factor]!, 0);
      return this.#random.choose(Float64Array.from({ length: outcomes }, (_, one) => A.data[one * size + place]!));
    });
  }

  act(taken: readonly number[]): void {
    const { factors } = this.#agent;
    this.#states = factors.map(({ B, states, actions, from }, index) => {
      const place = from.reduce((at, one) => at * factors[one]!.states + this.#states[one]!, 0);
      const places = B.data.length / states / actions;
      const column = Float64Array.from(
        { length: states },
        (_, to) => B.data[(to * places + place) * actions + taken[index]!]!,
      );
      return this.#random.choose(column);
    });
  }
}
