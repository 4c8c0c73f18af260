import { within } from "../../core/timing/wait.ts";
/**
 * Tracks whether a worker is ready for its next job: it must report this once before each job, and a run ends only
 * after the report.
 */
export class WorkerReadiness {
  #jobs = 0;
  #readies = 0;
  #onReady: (() => void) | undefined;

  /** Called when the worker receives a job. */
  given(): void {
    this.#jobs += 1;
  }

  /** Called when the worker reports that it is ready. */
  said(): void {
    this.#readies += 1;
    this.#onReady?.();
  }

  /**
   * Waits after a job is over. Resolves with `free` when the worker is ready, `ended` when it exited, and `busy` if
   * neither happened within `maxWaitMs`.
   */
  async state(ended: Promise<unknown>, maxWaitMs: number): Promise<"free" | "busy" | "ended"> {
    if (this.#readies > this.#jobs) return "free";
    const ready = new Promise<"free">((resolve) => (this.#onReady = () => resolve("free")));
    try {
      return (await within(Promise.race([ready, ended.then(() => "ended" as const)]), maxWaitMs)) ?? "busy";
    } finally {
      this.#onReady = undefined;
    }
  }
}
