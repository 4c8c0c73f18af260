import { fail, type Fail } from "../../core/calls/outcome.ts";
import { LostTime } from "../../process/lost-time.ts";

export interface StartClockOptions {
  /** What a start has, signs of life aside. */
  readonly timeoutMs: number;
  /** What it has in all while it shows signs of life. */
  readonly totalMs: number;
  /** What is started, once there is such a process here. */
  pid(): number | undefined;
}

/** While the machine keeps a start from working, it may take so many times as long. */
export const MAX_PATIENCE = 6;
/** Time between two looks. */
const LOOK_MS = 500;
/** Less than this is lost on any machine. */
const MIN_TOLD_MS = 1000;

/**
 * Tells when a start has had its time. A machine that is busy is no fault of the server: what its processes wanted of a
 * processor and did not get, and what this process came too late to read, does not count, up to a bound. One that
 * sleeps, or computes for ever, has no more than its time.
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

  /** Aborts once the time is over. */
  get signal(): AbortSignal {
    return this.#over.signal;
  }

  /** What did not count so far. */
  get lostMs(): number {
    return this.#lostMs;
  }

  /** What is said of a start that had its time. */
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

  /** A sign of life: the time begins anew. */
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
      // What has come meanwhile is read before anything is said of it.
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
