import type { Admission, LimitBounds, LimitStore } from "../../core/limit-store.ts";

interface Bucket {
  tokens: number;
  filledAt: number;
  running: number;
}

/** More clients than this at once are refused. */
const MAX_KEYS = 10_000;
/** How often an admission looks for idle clients, so that they go without a timer. */
const SWEEP_EVERY_MS = 1000;
const MINUTE_MS = 60_000;
/** When a client with too many running calls may try again. */
const IN_FLIGHT_RETRY_MS = 1000;

const ADMITTED: Admission = Object.freeze({ admitted: true });

/** Token buckets and counters of this process. A client that is idle for a minute leaves nothing behind. */
export class MemoryLimitStore implements LimitStore {
  readonly #buckets = new Map<string, Bucket>();
  readonly #maxKeys: number;
  #sweptAt = -Infinity;

  constructor(maxKeys = MAX_KEYS) {
    this.#maxKeys = maxKeys;
  }

  admit(key: string, { perMinute, inFlight }: LimitBounds): Admission {
    const now = performance.now();
    if (now - this.#sweptAt >= SWEEP_EVERY_MS) this.#sweep(now);
    let bucket = this.#buckets.get(key);
    if (!bucket) {
      if (!this.#hasRoom(now)) return { admitted: false, reason: "full", retryAfterMs: IN_FLIGHT_RETRY_MS };
      this.#buckets.set(key, (bucket = { tokens: perMinute, filledAt: now, running: 0 }));
    }
    if (inFlight > 0 && bucket.running >= inFlight)
      return { admitted: false, reason: "in-flight", retryAfterMs: IN_FLIGHT_RETRY_MS };
    if (perMinute > 0 && !takeToken(bucket, perMinute, now)) {
      return {
        admitted: false,
        reason: "rate",
        retryAfterMs: Math.ceil(((1 - bucket.tokens) * MINUTE_MS) / perMinute),
      };
    }
    bucket.running += 1;
    return ADMITTED;
  }

  leave(key: string): void {
    const bucket = this.#buckets.get(key);
    if (bucket && bucket.running > 0) bucket.running -= 1;
  }

  /** How many clients are remembered. */
  get size(): number {
    return this.#buckets.size;
  }

  async close(): Promise<void> {
    this.#buckets.clear();
  }

  #hasRoom(now: number): boolean {
    if (this.#buckets.size < this.#maxKeys) return true;
    this.#sweep(now);
    return this.#buckets.size < this.#maxKeys;
  }

  #sweep(now: number): void {
    this.#sweptAt = now;
    for (const [key, bucket] of this.#buckets) {
      // After a minute any bucket is full again, so nothing is lost with it.
      if (bucket.running === 0 && now - bucket.filledAt >= MINUTE_MS) this.#buckets.delete(key);
    }
  }
}

function takeToken(bucket: Bucket, perMinute: number, now: number): boolean {
  bucket.tokens = Math.min(perMinute, bucket.tokens + ((now - bucket.filledAt) * perMinute) / MINUTE_MS);
  bucket.filledAt = now;
  if (bucket.tokens < 1) return false;
  bucket.tokens -= 1;
  return true;
}
