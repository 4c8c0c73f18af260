import { cancelledFailure } from "../../core/calls/deadline.ts";
import type { FailError } from "../../core/errors.ts";
import type { Child } from "../../process/child.ts";

/** Time in milliseconds from SIGTERM to SIGKILL if a call ends before its child. */
export const KILL_GRACE_MS = 300;

/** Waits for the exit of a child, or for a reason to stop waiting, which kills the child first. */
export class ChildExit {
  readonly #child: Child;
  readonly #signals: readonly AbortSignal[];
  readonly #stopped: Promise<never>;
  #stop: (failure: FailError) => void = () => {};
  #isOver = false;
  readonly #onAbort = () =>
    this.stop(cancelledFailure(this.#signals.find((signal) => signal.aborted)?.reason), KILL_GRACE_MS);

  constructor(child: Child, signals: readonly AbortSignal[]) {
    this.#child = child;
    this.#signals = signals;
    this.#stopped = new Promise((_, reject) => {
      this.#stop = reject;
    });
    // Prevents an unhandled rejection if no code is waiting for the exit at that moment.
    this.#stopped.catch(() => {});
    for (const signal of signals) signal.addEventListener("abort", this.#onAbort, { once: true });
    if (signals.some((signal) => signal.aborted)) this.#onAbort();
  }

  stop(failure: FailError, graceMs: number): void {
    if (this.#isOver) return;
    this.#isOver = true;
    void this.#child.kill(graceMs).then(() => this.#stop(failure));
  }

  /** Waits for `work`. Once stopping has started, rejects with its reason instead of the exit of the killed child. */
  async race<T>(work: Promise<T>): Promise<T> {
    const value = await Promise.race([work, this.#stopped]);
    return this.#isOver ? this.#stopped : value;
  }

  release(): void {
    this.#isOver = true;
    for (const signal of this.#signals) signal.removeEventListener("abort", this.#onAbort);
  }
}
