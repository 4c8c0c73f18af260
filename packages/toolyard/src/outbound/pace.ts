import { cancelledFailure } from "../core/calls/deadline.ts";
import { FailError } from "../core/errors.ts";
import { formatDuration } from "../core/text/duration.ts";
import { fail } from "../core/calls/outcome.ts";

export interface PaceOptions {
  /** The service's name, for messages. */
  readonly service: string;
  /** Minimum time between the starts of two requests in milliseconds; 0: no minimum. */
  readonly intervalMs: number;
  /** Maximum number of queued requests. */
  readonly maxWaiting: number;
}

export interface PaceClock {
  now(): number;
  wait(ms: number, signal: AbortSignal | undefined): Promise<void>;
}

/**
 * Follows a service's rate limit: one request per interval, in order of arrival, and none during a pause that the
 * service requested.
 */
export class Pace {
  readonly #options: PaceOptions;
  readonly #clock: PaceClock;
  #nextAt = 0;
  #pausedUntil = 0;
  #waiting = 0;

  constructor(options: PaceOptions, clock: PaceClock = SYSTEM_CLOCK) {
    this.#options = options;
    this.#clock = clock;
  }

  /**
   * Resolves when the request may be sent. Rejects with `limited` if too many wait or the service requested a pause.
   */
  async turn(signal?: AbortSignal): Promise<void> {
    const { service, intervalMs, maxWaiting } = this.#options;
    if (signal?.aborted) throw cancelledFailure(signal.reason);
    const now = this.#clock.now();
    if (now < this.#pausedUntil)
      throw limited(`${service} requires a pause, so no request was sent.`, this.#pausedUntil - now);
    if (intervalMs === 0) return;
    if (this.#waiting >= maxWaiting)
      throw limited(
        `${service} takes one request in ${formatDuration(intervalMs)}, and ${maxWaiting} wait already.`,
        this.#nextAt - now,
      );
    const at = Math.max(now, this.#nextAt);
    this.#nextAt = at + intervalMs;
    if (at > now) await this.#wait(at - now, signal);
  }

  /** Stops requests for this time, as the service requested. */
  pause(ms: number): void {
    this.#pausedUntil = Math.max(this.#pausedUntil, this.#clock.now() + ms);
  }

  async #wait(ms: number, signal: AbortSignal | undefined): Promise<void> {
    this.#waiting += 1;
    try {
      await this.#clock.wait(ms, signal);
    } catch (error) {
      throw signal?.aborted ? cancelledFailure(signal.reason) : error;
    } finally {
      this.#waiting -= 1;
    }
  }
}

function limited(what: string, retryAfterMs: number): FailError {
  return new FailError(fail("limited", `${what} Try again in ${formatDuration(retryAfterMs)}.`, { retryAfterMs }));
}

const SYSTEM_CLOCK: PaceClock = {
  now: () => performance.now(),
  wait: async (ms, signal) => {
    const { setTimeout: sleep } = await import("node:timers/promises");
    await sleep(ms, undefined, signal ? { signal } : {});
  },
};
