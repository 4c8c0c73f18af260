import { cancelledFailure } from "../../core/calls/deadline.ts";
import { FailError } from "../../core/errors.ts";
import { fail } from "../../core/calls/outcome.ts";
import type { RunMode } from "../scripts/run-settings.ts";
import type { CodeStamp } from "./code-stamp.ts";
import type { WarmProcess } from "./warm-process.ts";

/** Maximum number of calls of one tool that wait for an interpreter; further ones are rejected. */
const MAX_WAITING = 256;
const RETRY_AFTER_MS = 1000;

export interface PoolOptions extends RunMode {
  /** The tool's name, for messages. */
  readonly name: string;
  /** Returns a stamp of the tool's current code. */
  stamp(): CodeStamp;
  /** Starts an interpreter. Rejects with a `FailError`. */
  start(): Promise<WarmProcess>;
  /** Called when all interpreters of the pool have ended or are ending. */
  onEmpty(): void;
}

/**
 * The interpreters of one tool. Each one runs one call at a time. An interpreter is replaced after a change of the code
 * or after a number of calls, and ends when it is idle.
 */
export class WarmPool {
  readonly #options: PoolOptions;
  readonly #idle: WarmProcess[] = [];
  readonly #waiting: (() => void)[] = [];
  #timer: NodeJS.Timeout | undefined;
  /** Number of running and starting interpreters. */
  #size = 0;
  #users = 0;
  #isClosed = false;

  constructor(options: PoolOptions) {
    this.#options = options;
  }

  /** Time when the longest idle interpreter was last used; `undefined` if none is idle. */
  get restsSince(): number | undefined {
    return this.#idle[0]?.usedAt;
  }

  get size(): number {
    return this.#size;
  }

  /**
   * Runs `work` with an interpreter of the current code. Waits for one if all are busy, until a signal ends the wait.
   */
  async use<T>(signals: readonly AbortSignal[], work: (one: WarmProcess) => Promise<T>): Promise<T> {
    this.#users += 1;
    try {
      const one = await this.#acquire(signals);
      try {
        return await work(one);
      } finally {
        this.#release(one);
      }
    } finally {
      this.#users -= 1;
      this.#tellEmpty();
    }
  }

  /** Ends the longest idle interpreter. */
  dropOldest(): void {
    const oldest = this.#idle.shift();
    if (oldest) this.#drop(oldest);
  }

  /** Accepts no further calls. Running calls may finish. */
  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    for (const one of this.#idle.splice(0)) this.#drop(one);
  }

  async #acquire(signals: readonly AbortSignal[]): Promise<WarmProcess> {
    for (;;) {
      const over = signals.find((signal) => signal.aborted);
      if (over) throw cancelledFailure(over.reason);
      const stamp = this.#options.stamp();
      const rested = this.#takeRested(stamp);
      if (rested) return rested;
      if (this.#size < this.#options.workers) return this.#start();
      await this.#turn(signals);
    }
  }

  /** Returns the most recently used idle interpreter, because its memory is still cached. */
  #takeRested(stamp: CodeStamp): WarmProcess | undefined {
    for (let one = this.#idle.pop(); one; one = this.#idle.pop()) {
      if (one.isAlive && one.stamp.isSettled && one.stamp.text === stamp.text) return one;
      this.#drop(one);
    }
    return undefined;
  }

  async #start(): Promise<WarmProcess> {
    this.#size += 1;
    try {
      return await this.#options.start();
    } catch (error) {
      this.#shrink();
      throw error;
    }
  }

  #turn(signals: readonly AbortSignal[]): Promise<void> {
    if (this.#waiting.length >= MAX_WAITING) {
      throw new FailError(
        fail(
          "limited",
          `${MAX_WAITING} calls of tool \`${this.#options.name}\` wait already. ` +
            "Try again later, or raise `run.workers`.",
          { retryAfterMs: RETRY_AFTER_MS },
        ),
      );
    }
    return new Promise((resolve) => {
      const proceed = () => {
        for (const signal of signals) signal.removeEventListener("abort", leave);
        resolve();
      };
      const leave = () => {
        this.#waiting.splice(this.#waiting.indexOf(proceed), 1);
        proceed();
      };
      this.#waiting.push(proceed);
      for (const signal of signals) signal.addEventListener("abort", leave, { once: true });
    });
  }

  #release(one: WarmProcess): void {
    const mayStay = one.isAlive && !this.#isClosed && one.calls < this.#options.maxCalls;
    if (!mayStay) return this.#drop(one);
    this.#idle.push(one);
    this.#timer ??= this.#sweepIn(this.#options.idleMs);
    this.#waiting.shift()?.();
  }

  #drop(one: WarmProcess): void {
    void one.close();
    this.#shrink();
  }

  #shrink(): void {
    this.#size -= 1;
    this.#waiting.shift()?.();
    this.#tellEmpty();
  }

  #tellEmpty(): void {
    if (this.#size === 0 && this.#users === 0) this.#options.onEmpty();
  }

  #sweepIn(delayMs: number): NodeJS.Timeout {
    return setTimeout(() => this.#sweep(), Math.max(1, delayMs)).unref();
  }

  #sweep(): void {
    const now = performance.now();
    while (this.#idle[0] && now - this.#idle[0].usedAt >= this.#options.idleMs) this.dropOldest();
    const [oldest] = this.#idle;
    this.#timer = oldest ? this.#sweepIn(oldest.usedAt + this.#options.idleMs - now) : undefined;
  }
}
