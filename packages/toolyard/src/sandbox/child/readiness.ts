import { within } from "../../core/timing/wait.ts";
/**
 * Whether a worker takes a job: it has to say so once before each. What it runs cannot be taken for over before that.
 */
export class Readiness {
  #jobs = 0;
  #readies = 0;
  #onReady: (() => void) | undefined;

  /** The worker was given a job. */
  given(): void {
    this.#jobs += 1;
  }

  /** The worker said that it takes one. */
  said(): void {
    this.#readies += 1;
    this.#onReady?.();
  }

  /**
   * Asked when a job is over: `free` as soon as the worker says so, `ended` when it ended, `busy` when neither came for
   * that long.
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
