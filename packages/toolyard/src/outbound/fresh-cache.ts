/** Cache with a lifetime per value and a maximum number of values; the least recently used is removed. */
export class FreshCache<V> {
  readonly #entries = new Map<string, { readonly value: V; readonly until: number }>();
  readonly #ttlMs: number;
  readonly #maxEntries: number;
  readonly #now: () => number;

  /** `ttlMs` 0 stores nothing. */
  constructor(ttlMs: number, maxEntries: number, now: () => number = () => performance.now()) {
    this.#ttlMs = ttlMs;
    this.#maxEntries = maxEntries;
    this.#now = now;
  }

  get(key: string): V | undefined {
    const entry = this.#entries.get(key);
    if (!entry) return undefined;
    this.#entries.delete(key);
    if (entry.until <= this.#now()) return undefined;
    this.#entries.set(key, entry);
    return entry.value;
  }

  set(key: string, value: V): void {
    if (this.#ttlMs === 0) return;
    this.#entries.delete(key);
    this.#entries.set(key, { value, until: this.#now() + this.#ttlMs });
    for (const oldest of this.#entries.keys()) {
      if (this.#entries.size <= this.#maxEntries) break;
      this.#entries.delete(oldest);
    }
  }
}
