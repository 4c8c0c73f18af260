import { fail, type Fail } from "../../core/calls/outcome.ts";
import { LostTime } from "../../process/lost-time.ts";

export interface StartClockOptions {
  /** Maximum time of a start without activity, in milliseconds. */
  readonly timeoutMs: number;
  /** Maximum total time of a start with activity, in milliseconds. */
  readonly totalMs: number;
  /** Returns the id of the started process, once it exists. */
  pid(): number | undefined;
}

/** Maximum factor by which the time of a start is extended on a busy machine. */
export const MAX_PATIENCE = 6;
/** Interval of the checks in milliseconds. */
const LOOK_MS = 500;
/** Minimum lost time that is reported. Shorter losses occur on every machine. */
const MIN_TOLD_MS = 1000;

/**
 * Measures the time of a start. On a busy machine, two kinds of delay do not count, up to a limit: time in which the
 * server's processes waited for a processor, and delays of this process in reading their output. A start that sleeps or
 * computes gets no extra time.
 */
export class StartClock {
  readonly #options: StartClockOptions;
  readonly #lostTime: LostTime;
  readonly #over = new AbortController();
  readonly #begunAt = performance.now();
  #sinceMs = 0;
  #lookedAt = this.#begunAt;
  #lostMs = 0;
  #lostBeforeMs = 0;
  #timer: NodeJS.Timeout | undefined;
  #turn: NodeJS.Immediate | undefined;
  #isStopped = false;

  constructor(options: StartClockOptions, lostTime = new LostTime()) {
    this.#options = options;
    this.#lostTime = lostTime;
    this.#wait();
  }

  /** Aborts when the time has ended. */
  get signal(): AbortSignal {
    return this.#over.signal;
  }

  /** Milliseconds that have not counted so far. */
  get lostMs(): number {
    return this.#lostMs;
  }

  /** The failure of a start that exceeded its time. */
  get failure(): Fail {
    const lost =
      this.#lostMs < MIN_TOLD_MS
        ? ""
        : `, not counting ${Math.round(this.#lostMs / 1000)} s in which the machine was busy`;
    const message =
      `The server did not finish starting within ${this.#options.timeoutMs / 1000} s${lost}. ` +
      "Its last lines on stderr are in the status; `connect_timeout` can be raised.";
    return fail("unavailable", message);
  }

  /** Records activity, which restarts the time. */
  touch(): void {
    this.#sinceMs = performance.now() - this.#begunAt;
    this.#lostBeforeMs = this.#lostMs;
  }

  stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#timer);
    clearImmediate(this.#turn);
  }

  #wait(): void {
    const waitMs = Math.max(1, Math.min(LOOK_MS, this.#leftMs()));
    const dueAt = performance.now() + waitMs;
    this.#timer = setTimeout(() => {
      const lateMs = Math.max(0, performance.now() - dueAt);
      // The check runs after pending messages were read, because one of them may be a sign of activity.
      this.#turn = setImmediate(() => this.#look(lateMs));
    }, waitMs);
    this.#timer.unref();
  }

  #look(lateMs: number): void {
    if (this.#isStopped) return;
    const now = performance.now();
    const passedMs = now - this.#lookedAt;
    this.#lookedAt = now;
    const pid = this.#options.pid();
    const lostMs = Math.max(lateMs, pid === undefined ? 0 : this.#lostTime.look(pid, passedMs));
    const mostMs = this.#options.timeoutMs * (MAX_PATIENCE - 1);
    this.#lostMs = Math.min(mostMs, this.#lostMs + Math.min(passedMs, lostMs));
    if (this.#leftMs() > 0) return this.#wait();
    this.stop();
    this.#over.abort();
  }

  #leftMs(): number {
    const { timeoutMs, totalMs } = this.#options;
    const passedMs = performance.now() - this.#begunAt;
    const sinceSignMs = passedMs - this.#sinceMs - (this.#lostMs - this.#lostBeforeMs);
    return Math.min(timeoutMs - sinceSignMs, totalMs - (passedMs - this.#lostMs));
  }
}
