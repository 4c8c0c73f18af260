/**
 * What a run has used of its two times, as the worker itself sees them: exact, and asked for in the middle of a
 * computation.
 */
export class JobClock {
  readonly #wallEnd: number;
  readonly #cpuMs: number;
  #usedMs = 0;
  #since: number | undefined;

  constructor({ wallMs, cpuMs }: { readonly wallMs: number; readonly cpuMs: number }) {
    this.#wallEnd = performance.now() + wallMs;
    this.#cpuMs = cpuMs;
  }

  enter(): void {
    this.#since = performance.now();
  }

  leave(): void {
    if (this.#since !== undefined) this.#usedMs += performance.now() - this.#since;
    this.#since = undefined;
  }

  /** Which of the times is over. */
  over(): "wall" | "cpu" | undefined {
    const now = performance.now();
    if (now >= this.#wallEnd) return "wall";
    return this.#usedMs + (this.#since === undefined ? 0 : now - this.#since) >= this.#cpuMs ? "cpu" : undefined;
  }

  get leftMs(): number {
    return Math.max(0, this.#wallEnd - performance.now());
  }
}
