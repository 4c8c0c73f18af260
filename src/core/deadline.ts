import { FailError } from "./errors.ts";
import { fail } from "./outcome.ts";

/** How long something may take: `idleMs` without a sign of life, `totalMs` in all. */
export interface Budget {
  readonly idleMs: number;
  readonly totalMs: number;
}

/**
 * The time a call has. It ends when nothing was heard for `idleMs` (progress resets that), when `totalMs` have passed, or when a
 * parent ended. Its signal aborts with a `FailError` of kind `timeout`, so that the reason travels to whoever waits.
 * Budgets nest: a child never outlives its parent.
 */
export class Deadline {
  readonly signal: AbortSignal;
  readonly #controller = new AbortController();
  readonly #endsAt: number;
  readonly #idleMs: number;
  readonly #parent: Deadline | undefined;
  #idleTimer: NodeJS.Timeout | undefined;
  #totalTimer: NodeJS.Timeout | undefined;
  #touchedAt: number;

  constructor(budget: Budget, parent?: Deadline) {
    this.#parent = parent;
    this.#idleMs = budget.idleMs;
    const now = performance.now();
    this.#touchedAt = now;
    this.#endsAt = Math.min(now + budget.totalMs, parent?.endsAt ?? Infinity);
    this.signal = parent ? AbortSignal.any([this.#controller.signal, parent.signal]) : this.#controller.signal;
    this.#idleTimer = timer(() => this.#checkIdle(), budget.idleMs);
    if (budget.totalMs > budget.idleMs) this.#totalTimer = timer(() => this.#expire(budget.totalMs), budget.totalMs);
  }

  /** When the call must have ended, on the clock of `performance.now()`. */
  get endsAt(): number {
    return this.#endsAt;
  }

  /** What is left of the shorter of the two budgets, in milliseconds, never below 0. */
  get remainingMs(): number {
    const idleEnd = this.#touchedAt + this.#idleMs;
    const own = Math.min(idleEnd, this.#endsAt) - performance.now();
    return Math.max(0, Math.min(own, this.#parent?.remainingMs ?? Infinity));
  }

  /** A sign of life: the idle budget begins anew, here and in every parent. */
  touch(): void {
    this.#touchedAt = performance.now();
    this.#parent?.touch();
  }

  /** Ends the timers. Whoever made the deadline calls this once the work is over. */
  clear(): void {
    clearTimeout(this.#idleTimer);
    clearTimeout(this.#totalTimer);
    this.#idleTimer = undefined;
    this.#totalTimer = undefined;
  }

  // Touching only notes the time; the one timer re-arms itself, since a chatty call would otherwise churn timers.
  #checkIdle(): void {
    const quietMs = performance.now() - this.#touchedAt;
    // Timers may fire a millisecond early.
    if (quietMs + 1 >= this.#idleMs) return this.#expire(this.#idleMs);
    this.#idleTimer = timer(() => this.#checkIdle(), this.#idleMs - quietMs);
  }

  #expire(timeoutMs: number): void {
    this.clear();
    this.#controller.abort(timeoutFailure(timeoutMs));
  }
}

function timer(run: () => void, delayMs: number): NodeJS.Timeout | undefined {
  if (delayMs === Infinity) return undefined;
  const handle = setTimeout(run, Math.min(delayMs, MAX_TIMER_MS));
  handle.unref();
  return handle;
}

/** `setTimeout` wraps around above this and would fire at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;

export function timeoutFailure(timeoutMs: number): FailError {
  const seconds = timeoutMs >= 1000 ? `${Math.round(timeoutMs / 100) / 10} s` : `${timeoutMs} ms`;
  return new FailError(
    fail("timeout", `Timed out after ${seconds} without an answer. Raise the timeout of this source or tool if the work takes longer.`, {
      details: { timeoutMs },
    }),
  );
}
