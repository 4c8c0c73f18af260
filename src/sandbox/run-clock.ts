import { formatDuration } from "../core/duration.ts";

/** The two times of a run: all of it, and what the code itself computes. Tells once which of them is over. */
export class RunClock {
  readonly #onEnd: (message: string) => void;
  readonly #named: { readonly wallMs: number; readonly cpuMs: number };
  readonly #wall: NodeJS.Timeout;
  #cpu: NodeJS.Timeout | undefined;
  #cpuLeftMs: number;
  #since: number | undefined;
  #isStopped = false;

  /**
   * `named`: the bounds as the user knows them, in milliseconds, for the message; this clock is set later by `graceMs`.
   */
  constructor(
    named: { readonly wallMs: number; readonly cpuMs: number },
    graceMs: number,
    onEnd: (message: string) => void,
  ) {
    this.#onEnd = onEnd;
    this.#named = named;
    this.#cpuLeftMs = named.cpuMs + graceMs;
    this.#wall = setTimeout(() => this.#end(wallMessage(this.#named.wallMs)), named.wallMs + graceMs);
    this.waits(false);
  }

  /** The computing time stands still while the code waits. */
  waits(waits: boolean): void {
    if (this.#isStopped || waits === (this.#since === undefined)) return;
    if (waits) {
      clearTimeout(this.#cpu);
      this.#cpuLeftMs -= performance.now() - this.#since!;
      this.#since = undefined;
      return;
    }
    // Code that waits again and again would set it off anew each time.
    if (this.#cpuLeftMs <= 0) return this.#end(cpuMessage(this.#named.cpuMs));
    this.#since = performance.now();
    this.#cpu = setTimeout(() => this.#end(cpuMessage(this.#named.cpuMs)), this.#cpuLeftMs);
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
