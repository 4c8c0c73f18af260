import type { JsonObject } from "../../core/json/json.ts";

/** Pause in milliseconds if the server recommends none, and the limits of a recommended one. */
const USUAL_MS = 1000;
const MIN_MS = 50;
const MAX_MS = 60_000;

/** Pauses between two polls, as the server recommends. The signal and `end` shorten a pause. */
export class PollPause {
  readonly #signal: AbortSignal;
  #end: (() => void) | undefined;

  constructor(signal: AbortSignal) {
    this.#signal = signal;
  }

  /** Waits for the time that a task's state recommends. */
  async wait({ pollIntervalMs, pollInterval = pollIntervalMs }: JsonObject): Promise<void> {
    if (this.#signal.aborted) return;
    const wanted = typeof pollInterval === "number" && pollInterval > 0 ? pollInterval : USUAL_MS;
    let timer: NodeJS.Timeout | undefined;
    const end = (): void => this.end();
    this.#signal.addEventListener("abort", end, { once: true });
    await new Promise<void>((resolve) => {
      this.#end = resolve;
      timer = setTimeout(resolve, Math.min(MAX_MS, Math.max(MIN_MS, wanted)));
    });
    this.#end = undefined;
    clearTimeout(timer);
    this.#signal.removeEventListener("abort", end);
  }

  /** Ends the current pause. */
  end(): void {
    this.#end?.();
  }
}
