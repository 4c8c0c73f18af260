export interface BackoffOptions {
  readonly firstMs: number;
  readonly maxMs: number;
  /** A connection that lasted this long resets the pause to `firstMs`. */
  readonly stableMs: number;
}

/**
 * Pauses that double up to a limit. They are shortened randomly, so that many clients do not reconnect at the same
 * moment.
 */
export class Backoff {
  readonly #options: BackoffOptions;
  readonly #random: () => number;
  #failures = 0;
  #upSince: number | undefined;

  constructor(options: BackoffOptions, random: () => number = Math.random) {
    this.#options = options;
    this.#random = random;
  }

  succeeded(now = performance.now()): void {
    this.#upSince = now;
  }

  /** Returns the pause before the next attempt: between half of the current step and the whole step. */
  nextMs(now = performance.now()): number {
    const { firstMs, maxMs, stableMs } = this.#options;
    if (this.#upSince !== undefined && now - this.#upSince >= stableMs) this.#failures = 0;
    this.#upSince = undefined;
    const step = Math.min(maxMs, firstMs * 2 ** Math.min(this.#failures, 30));
    this.#failures += 1;
    return step / 2 + (step / 2) * this.#random();
  }
}
