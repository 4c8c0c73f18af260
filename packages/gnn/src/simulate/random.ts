/**
 * Generator of reproducible random numbers from 0 to 1 (sfc32). The same seed gives the same numbers on every platform.
 */
export class Random {
  readonly #state: Uint32Array;

  constructor(seed: number) {
    this.#state = Uint32Array.of(seed, seed / 2 ** 32, 0x9e3779b9, 1);
    for (let round = 0; round < 15; round += 1) this.next();
  }

  next(): number {
    const state = this.#state;
    const sum = (state[0]! + state[1]! + state[3]!) >>> 0;
    state[3] = state[3]! + 1;
    state[0] = state[1]! ^ (state[1]! >>> 9);
    state[1] = state[2]! + (state[2]! << 3);
    state[2] = ((state[2]! << 21) | (state[2]! >>> 11)) + sum;
    return sum / 2 ** 32;
  }

  /** Returns a number with the standard normal distribution (Box and Muller). */
  normal(): number {
    // 1 - x is above 0, so its logarithm is finite.
    const radius = Math.sqrt(-2 * Math.log(1 - this.next()));
    return radius * Math.cos(2 * Math.PI * this.next());
  }

  /** Returns an index sampled with these probabilities. */
  choose(probabilities: Float64Array): number {
    const drawn = this.next();
    let sum = 0;
    for (let at = 0; at < probabilities.length; at += 1) {
      sum += probabilities[at]!;
      if (drawn < sum) return at;
    }
    return probabilities.findLastIndex((probability) => probability > 0);
  }
}
