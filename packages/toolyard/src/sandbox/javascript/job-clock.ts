/**
 * Measures wall time and processor time of a run inside the worker, during a computation. Processor time does not
 * include other work on the machine. It is the thread's time if Node reports it, otherwise the process's, and never
 * more than the elapsed time.
 */
export class JobClock {
  readonly #wallEnd: number;
  readonly #cpuMs: number;
  readonly #computedMs: () => number;
  #usedMs = 0;
  #since: { readonly passed: number; readonly computed: number } | undefined;

  constructor({ wallMs, cpuMs }: { readonly wallMs: number; readonly cpuMs: number }, computedMs = threadCpuMs) {
    this.#wallEnd = performance.now() + wallMs;
    this.#cpuMs = cpuMs;
    this.#computedMs = computedMs;
  }

  enter(): void {
    this.#since = { passed: performance.now(), computed: this.#computedMs() };
  }

  leave(): void {
    if (this.#since) this.#usedMs += this.#of(this.#since, performance.now());
    this.#since = undefined;
  }

  /** Returns which time limit is exceeded; undefined if none is. */
  over(): "wall" | "cpu" | undefined {
    const now = performance.now();
    if (now >= this.#wallEnd) return "wall";
    const { passed } = this.#since ?? { passed: now };
    // Processor time is read only if the elapsed time exceeds the limit, because it is never greater than the elapsed
    // time.
    if (this.#usedMs + now - passed < this.#cpuMs) return undefined;
    return this.#usedMs + (this.#since ? this.#of(this.#since, now) : 0) >= this.#cpuMs ? "cpu" : undefined;
  }

  #of({ passed, computed }: { readonly passed: number; readonly computed: number }, now: number): number {
    return Math.min(now - passed, this.#computedMs() - computed);
  }

  get leftMs(): number {
    return Math.max(0, this.#wallEnd - performance.now());
  }
}

/** Function that is available since Node 22.19. */
type ThreadUsage = () => NodeJS.CpuUsage;

function threadCpuMs(): number {
  const { threadCpuUsage } = process as { readonly threadCpuUsage?: ThreadUsage };
  const { user, system } = threadCpuUsage?.call(process) ?? process.cpuUsage();
  return (user + system) / 1000;
}
