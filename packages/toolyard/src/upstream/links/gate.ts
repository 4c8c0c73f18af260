import { abortFailure } from "../../core/timing/wait.ts";

export interface LinkGateOptions {
  /** Maximum number of concurrent starts. */
  readonly width: number;
  /**
   * Time after which a start no longer counts, although it continues, so that a hanging start does not block others.
   */
  readonly holdMs: number;
}

/** Limits the number of servers that start concurrently, because many concurrent starts slow each other down. */
export class Gate {
  readonly #options: LinkGateOptions;
  readonly #waiting: (() => void)[] = [];
  #inside = 0;

  constructor(options: LinkGateOptions) {
    this.#options = options;
  }

  /** Runs `work` once there is room. Rejects if `signal` aborts before that. */
  async run<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> {
    await this.#enter(signal);
    const leave = this.#leaver();
    const hold = setTimeout(leave, this.#options.holdMs);
    hold.unref();
    try {
      return await work();
    } finally {
      clearTimeout(hold);
      leave();
    }
  }

  #enter(signal: AbortSignal): Promise<void> {
    if (signal.aborted) return Promise.reject(abortFailure(signal));
    if (this.#inside < this.#options.width) {
      this.#inside += 1;
      return Promise.resolve();
    }
    return new Promise((resolve, reject) => {
      const onAbort = (): void => {
        this.#waiting.splice(this.#waiting.indexOf(enter), 1);
        reject(abortFailure(signal));
      };
      const enter = (): void => {
        signal.removeEventListener("abort", onAbort);
        this.#inside += 1;
        resolve();
      };
      this.#waiting.push(enter);
      signal.addEventListener("abort", onAbort, { once: true });
    });
  }

  #leaver(): () => void {
    let isInside = true;
    return () => {
      if (!isInside) return;
      isInside = false;
      this.#inside -= 1;
      this.#waiting.shift()?.();
    };
  }
}

/** Gate for all upstreams of this process that have no gate of their own. */
export const CONNECT_GATE = new Gate({ width: 8, holdMs: 3000 });
