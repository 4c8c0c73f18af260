export interface FreshValueOptions<T> {
  readonly read: () => Promise<T>;
  /** Age after which the value is read again in the background. The old value is used meanwhile. */
  readonly freshMs: number;
  /** Age after which the old value is no longer used. @default 24 hours */
  readonly staleMs?: number;
  /** Minimum time between two attempts. @default 5 s */
  readonly cooldownMs?: number;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

const STALE_MS = 24 * 60 * 60_000;
const COOLDOWN_MS = 5000;

/**
 * A value that is read from another server, by one request at a time. The last value stays in use while that server is
 * not available.
 */
export class FreshValue<T> {
  readonly #options: Required<FreshValueOptions<T>>;
  #value: { readonly value: T; readonly readAt: number } | undefined;
  #reading: Promise<T> | undefined;
  #lastAttempt = -Infinity;
  #lastProblem: unknown;

  constructor(options: FreshValueOptions<T>) {
    this.#options = { staleMs: STALE_MS, cooldownMs: COOLDOWN_MS, ...options };
  }

  /** Resolves with the value. If there is none, rejects with the error of the last attempt. */
  async get(): Promise<T> {
    const { now, freshMs, staleMs } = this.#options;
    const age = this.#value ? now() - this.#value.readAt : Infinity;
    if (this.#value && age < freshMs) return this.#value.value;
    if (this.#value && age < staleMs) {
      void this.#attempt().catch(() => {});
      return this.#value.value;
    }
    return this.#attempt();
  }

  /** Reads the value again if the cooldown has passed. Resolves to true if the value is newer. */
  async renew(): Promise<boolean> {
    const before = this.#value;
    await this.#attempt().catch(() => {});
    return this.#value !== before;
  }

  #attempt(): Promise<T> {
    const { now, cooldownMs } = this.#options;
    if (this.#reading) return this.#reading;
    if (now() - this.#lastAttempt < cooldownMs)
      return this.#lastProblem === undefined && this.#value
        ? Promise.resolve(this.#value.value)
        : Promise.reject(this.#lastProblem);
    this.#lastAttempt = now();
    this.#reading = this.#read();
    return this.#reading;
  }

  async #read(): Promise<T> {
    try {
      const value = await this.#options.read();
      this.#value = { value, readAt: this.#options.now() };
      this.#lastProblem = undefined;
      return value;
    } catch (error) {
      this.#lastProblem = error;
      throw error;
    } finally {
      this.#reading = undefined;
    }
  }
}
