import type { AttemptLimit, AuthAttempts } from "../../state/ports/auth-state.ts";

interface AttemptBucket {
  left: number;
  at: number;
}

/** Maximum number of keys; the oldest is removed. */
const MAX_KEYS = 10_000;

/** Limits attempts of one process in memory. */
export class Attempts implements AuthAttempts {
  readonly #limit: AttemptLimit;
  readonly #buckets = new Map<string, AttemptBucket>();
  readonly #now: () => number;

  constructor(limit: AttemptLimit, now: () => number) {
    this.#limit = limit;
    this.#now = now;
  }

  take(key: string): number {
    const { burst, everyMs } = this.#limit;
    const now = this.#now();
    const known = this.#buckets.get(key) ?? { left: burst, at: now };
    const left = Math.min(burst, known.left + (now - known.at) / everyMs);
    if (left < 1) return Math.ceil((1 - left) * everyMs);
    this.#buckets.delete(key);
    if (this.#buckets.size >= MAX_KEYS) this.#buckets.delete(this.#buckets.keys().next().value!);
    this.#buckets.set(key, { left: left - 1, at: now });
    return 0;
  }

  giveBack(key: string): void {
    const known = this.#buckets.get(key);
    if (known) known.left = Math.min(this.#limit.burst, known.left + 1);
  }

  clear(key: string): void {
    this.#buckets.delete(key);
  }
}
