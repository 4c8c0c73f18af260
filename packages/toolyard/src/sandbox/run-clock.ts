import { formatDuration } from "../core/text/duration.ts";

export interface RunClockOptions {
  /** The configured limits in milliseconds, for the message. This clock ends the run `graceMs` later. */
  readonly named: { readonly wallMs: number; readonly cpuMs: number };
  readonly graceMs: number;
  /**
   * Returns the processor time of the code's process or thread in milliseconds: at least that of the code, and on a
   * busy machine much less than the elapsed time. NaN: unavailable.
   */
  readonly computedMs: () => number;
}

/**
 * Measures total time and processor time of a run. Reports once which limit is exceeded. Elapsed time without waits is
 * an upper limit of processor time, so processor time is read only when elapsed time exceeds its limit.
 */
export class RunClock {
  readonly #onEnd: (message: string) => void;
  readonly #named: RunClockOptions["named"];
  readonly #computedMs: () => number;
  readonly #mostComputedMs: number;
  readonly #wall: NodeJS.Timeout;
  #cpu: NodeJS.Timeout | undefined;
  #cpuLeftMs: number;
  #since: number | undefined;
  #isStopped = false;

  constructor({ named, graceMs, computedMs }: RunClockOptions, onEnd: (message: string) => void) {
    this.#onEnd = onEnd;
    this.#named = named;
    this.#cpuLeftMs = named.cpuMs + graceMs;
    this.#computedMs = computedMs;
    this.#mostComputedMs = computedMs() + this.#cpuLeftMs;
    this.#wall = setTimeout(() => this.#end(wallMessage(this.#named.wallMs)), named.wallMs + graceMs);
    this.waits(false);
  }

  /** Pauses or continues the measurement of processor time while the code waits. */
  waits(waits: boolean): void {
    if (this.#isStopped || waits === (this.#since === undefined)) return;
    if (waits) {
      clearTimeout(this.#cpu);
      this.#cpuLeftMs -= performance.now() - this.#since!;
      this.#since = undefined;
      return;
    }
    this.#compute();
  }

  #compute(): void {
    // Without this line, code that waits repeatedly would start the timer again after each wait.
    if (this.#cpuLeftMs <= 0) this.#cpuLeftMs = this.#mostComputedMs - this.#computedMs();
    if (!(this.#cpuLeftMs > 0)) return this.#end(cpuMessage(this.#named.cpuMs));
    this.#since = performance.now();
    this.#cpu = setTimeout(() => {
      this.#cpuLeftMs = 0;
      this.#compute();
    }, this.#cpuLeftMs);
  }

  stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#wall);
    clearTimeout(this.#cpu);
  }

  #end(message: string): void {
    if (this.#isStopped) return;
    this.stop();
    this.#onEnd(message);
  }
}

export function wallMessage(wallMs: number): string {
  return (
    `The run took longer than ${formatDuration(wallMs)} and was ended. Do less in one run, or give it more time ` +
    "(`sandbox.timeout`, `sandbox.max_timeout`)."
  );
}

export function cpuMessage(cpuMs: number): string {
  return (
    `The code computed for longer than ${formatDuration(cpuMs)} (\`sandbox.cpu_time\`) and was ended. ` +
    "Look for a loop that does not end, or do less in one run."
  );
}
