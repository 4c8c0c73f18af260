export interface FreshValueOptions<T> {
  readonly read: () => Promise<T>;
  /** Age from which the value is read again, in the background while the old one is still served. */
  readonly freshMs: number;
  /** Age from which the old value is not served any more. @default 24 hours */
  readonly staleMs?: number;
  /** Time between two attempts. @default 5 s */
  readonly cooldownMs?: number;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

const STALE_MS = 24 * 60 * 60_000;
const COOLDOWN_MS = 5000;

/** A value that is read from another server, by one request at a time, and kept while the other side is down. */
export class FreshValue<T> {
  readonly #options: Required<FreshValueOptions<T>>;
  #value: { readonly value: T; readonly readAt: number } | undefined;
  #reading: Promise<T> | undefined;
  #lastAttempt = -Infinity;
  #lastProblem: unknown;

  constructor(options: FreshValueOptions<T>) {
    this.#options = { staleMs: STALE_MS, cooldownMs: COOLDOWN_MS, ...options };
  }

  /** Rejects with the reason of the last attempt while there is no value. */
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

  /** Reads again if the cooldown is over. Resolves to true if there is a newer value. */
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
