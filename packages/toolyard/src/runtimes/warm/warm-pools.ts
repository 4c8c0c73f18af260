import { WarmPool, type PoolOptions } from "./warm-pool.ts";

/** Maximum number of idle interpreters of all tools of one provider; above it, the longest idle one ends. */
const MAX_PROCESSES = 32;

interface PoolEntry {
  readonly pool: WarmPool;
  readonly settings: string;
}

/** The pools of one provider's tools. */
export class WarmPools {
  readonly #entries = new Map<string, PoolEntry>();

  constructor(closing: AbortSignal) {
    // Ends calls that wait for an interpreter or are starting one. The closing provider ends the processes.
    closing.addEventListener("abort", () => this.#close(), { once: true });
  }

  /**
   * Returns the pool of one tool. If the settings have changed, creates a new pool; the old one ends after its last
   * call.
   */
  of(key: string, settings: string, options: Omit<PoolOptions, "onEmpty">): WarmPool {
    const known = this.#entries.get(key);
    if (known?.settings === settings) return known.pool;
    known?.pool.close();
    const pool: WarmPool = new WarmPool({
      ...options,
      start: () => {
        this.#makeRoom();
        return options.start();
      },
      onEmpty: () => {
        if (this.#entries.get(key)?.pool === pool) this.#entries.delete(key);
      },
    });
    this.#entries.set(key, { pool, settings });
    return pool;
  }

  #makeRoom(): void {
    const all = Array.from(this.#entries.values(), ({ pool }) => pool);
    const living = all.reduce((sum, pool) => sum + pool.size, 0);
    if (living <= MAX_PROCESSES) return;
    const resting = all
      .filter((pool) => pool.restsSince !== undefined)
      .toSorted((a, b) => a.restsSince! - b.restsSince!);
    resting[0]?.dropOldest();
  }

  #close(): void {
    for (const { pool } of this.#entries.values()) pool.close();
    this.#entries.clear();
  }
}
