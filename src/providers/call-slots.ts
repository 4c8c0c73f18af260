import type { Cancellation } from "../core/cancellation.ts";
import { FailError } from "../core/errors.ts";
import { fail } from "../core/outcome.ts";
import { abortFailure } from "../core/wait.ts";

/** Calls that may wait for a free place. */
const MAX_WAITING = 1000;

/** Bounds how many calls of one source run at once; further ones wait in order, within their own time. */
export class CallSlots {
  readonly #width: number;
  readonly #waiting: (() => void)[] = [];
  #inside = 0;

  constructor(width: number) {
    this.#width = width;
  }

  /**
   * Resolves with the function that frees the place. Rejects with a `FailError` when too many wait, or with the reason
   * of `signal`.
   */
  async enter(signal: Cancellation): Promise<() => void> {
    if (this.#inside < this.#width) this.#inside += 1;
    else await this.#wait(signal);
    let isInside = true;
    return () => {
      if (!isInside) return;
      isInside = false;
      const next = this.#waiting.shift();
      // The place is handed over, so that nobody slips in between.
      if (next) next();
      else this.#inside -= 1;
    };
  }

  #wait(signal: Cancellation): Promise<void> {
    if (this.#waiting.length >= MAX_WAITING) {
      const message = `${MAX_WAITING} calls already wait for this source. Try again later, or raise its \`max_concurrent\`.`;
      return Promise.reject(new FailError(fail("limited", message, { retryAfterMs: 1000 })));
    }
    if (signal.aborted) return Promise.reject(abortFailure(signal));
    return new Promise((resolve, reject) => {
      const onAbort = (): void => {
        this.#waiting.splice(this.#waiting.indexOf(enter), 1);
        reject(abortFailure(signal));
      };
      const enter = (): void => {
        signal.removeEventListener("abort", onAbort);
        resolve();
      };
      this.#waiting.push(enter);
      signal.addEventListener("abort", onAbort, { once: true });
    });
  }
}
