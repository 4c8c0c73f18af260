import { setMaxListeners } from "node:events";
import { Canceller, type Cancellation } from "./cancellation.ts";
import { FailError } from "../errors.ts";
import { fail } from "./outcome.ts";

/** Time limits: `idleMs` without activity, `totalMs` in total. */
export interface Budget {
  readonly idleMs: number;
  readonly totalMs: number;
}

/**
 * The time limit of a call. It ends when there was no activity for `idleMs` (progress resets that), when `totalMs` have
 * passed, or when a parent ended. Its signal aborts with a `FailError` of kind `timeout`, so that waiting code receives
 * the reason. Budgets nest: a child never outlives its parent.
 */
export class Deadline {
  readonly #canceller = new Canceller();
  readonly #startedAt: number;
  readonly #parent: Deadline | undefined;
  readonly #caller: Cancellation | undefined;
  #onParent: (() => void) | undefined;
  #onCaller: (() => void) | undefined;
  #endsAt = Infinity;
  #budget: Budget;
  #timer: NodeJS.Timeout | undefined;
  #wakesAt = Infinity;
  #touchedAt: number;
  #holds = 0;
  #over = false;

  /**
   * `caller`, if given, ends the deadline too: it aborts with kind `cancelled`, so that the work needs only one signal.
   */
  constructor(budget: Budget, parent?: Deadline, caller?: Cancellation) {
    this.#parent = parent;
    this.#caller = caller;
    this.#budget = budget;
    this.#startedAt = performance.now();
    this.#touchedAt = this.#startedAt;
    if (parent) follow(parent.cancellation, (this.#onParent = Deadline.#endOf(this, parent.cancellation)));
    if (caller) follow(caller, (this.#onCaller = Deadline.#endOf(this, caller)));
    this.adapt(budget);
  }

  // Created outside the constructor, since on Node 20 closures created inside were measured to live until a full
  // collection.
  static #endOf(deadline: Deadline, cause: Cancellation): () => void {
    return () => deadline.#end(cancelledFailure(cause.reason));
  }

  static readonly #wake = (deadline: Deadline): void => deadline.#check();

  /** Aborts at the end of the time, of a parent's, or when the caller cancels. */
  get cancellation(): Cancellation {
    return this.#canceller;
  }

  /** The equivalent signal, for code that needs one. */
  get signal(): AbortSignal {
    return this.#canceller.signal;
  }

  /** The latest end of the call, on the clock of `performance.now()`. */
  get endsAt(): number {
    return this.#endsAt;
  }

  /** Remaining time of the shorter of the two budgets, in milliseconds, never below 0. */
  get remainingMs(): number {
    const idleEnd = this.#holds > 0 ? Infinity : this.#touchedAt + this.#budget.idleMs;
    const own = Math.min(idleEnd, this.#endsAt) - performance.now();
    return Math.max(0, Math.min(own, this.#parent?.remainingMs ?? Infinity));
  }

  /** Replaces the budget when more is known. It counts from the start of the deadline. */
  adapt(budget: Budget): void {
    if (this.#over) return;
    this.#budget = budget;
    this.#endsAt = Math.min(this.#startedAt + budget.totalMs, this.#parent?.endsAt ?? Infinity);
    this.#arm();
  }

  /** Records activity: the idle budget restarts, here and in every parent. */
  touch(): void {
    this.#touchedAt = performance.now();
    this.#parent?.touch();
  }

  /**
   * Stops the idle clock, here and in every parent, until the returned function is called: the hub waits for a user.
   */
  hold(): () => void {
    const releaseParent = this.#parent?.hold();
    this.#holds += 1;
    let held = true;
    return () => {
      if (!held) return;
      held = false;
      this.#holds -= 1;
      this.#touchedAt = performance.now();
      this.#arm();
      releaseParent?.();
    };
  }

  /**
   * Stops the timer and releases parent and caller. The creator of the deadline calls this when the work has ended.
   */
  clear(): void {
    if (this.#over) return;
    this.#over = true;
    clearTimeout(this.#timer);
    if (this.#onParent) this.#parent!.cancellation.removeEventListener("abort", this.#onParent);
    if (this.#onCaller) this.#caller!.removeEventListener("abort", this.#onCaller);
  }

  // `touch` only records the time; the one timer re-arms itself, since frequent activity would otherwise churn timers.
  #arm(): void {
    if (this.#over) return;
    const idleEnd = this.#holds > 0 ? Infinity : this.#touchedAt + this.#budget.idleMs;
    // The parent reports its own limit: if its child's timer fired slightly earlier, the child's failure would become
    // the answer.
    const isParents = this.#endsAt < this.#startedAt + this.#budget.totalMs;
    const wakesAt = Math.min(idleEnd, this.#endsAt + (isParents ? AFTER_PARENT_MS : 0));
    if (this.#timer !== undefined && this.#wakesAt === wakesAt) return;
    clearTimeout(this.#timer);
    this.#wakesAt = wakesAt;
    this.#timer = timer(Deadline.#wake, this, wakesAt - performance.now());
  }

  #check(): void {
    this.#timer = undefined;
    // Timers may fire a millisecond early.
    const now = performance.now() + 1;
    if (now >= this.#endsAt) return this.#end(timeoutFailure(this.#endsAt - this.#startedAt));
    if (this.#holds === 0 && now - this.#touchedAt >= this.#budget.idleMs)
      return this.#end(timeoutFailure(this.#budget.idleMs));
    this.#arm();
  }

  #end(reason: unknown): void {
    if (this.#over) return;
    this.clear();
    this.#canceller.abort(reason);
  }
}

function follow(cancellation: Cancellation, onAbort: () => void): void {
  if (cancellation.aborted) return onAbort();
  // Many calls may share a caller; that is not a leak.
  if (cancellation instanceof AbortSignal) setMaxListeners(0, cancellation);
  cancellation.addEventListener("abort", onAbort, ONCE);
}

const ONCE = Object.freeze({ once: true });

function timer<T>(run: (of: T) => void, of: T, delayMs: number): NodeJS.Timeout | undefined {
  if (delayMs === Infinity) return undefined;
  const handle = setTimeout(run, Math.min(Math.max(delayMs, 1), MAX_TIMER_MS), of);
  handle.unref();
  return handle;
}

/** A child that outlives its parent's end by this much ends itself: the parent was cleared before. */
const AFTER_PARENT_MS = 20;

/** `setTimeout` overflows above this and would fire immediately. */
export const MAX_TIMER_MS = 2 ** 31 - 1;

export function timeoutFailure(timeoutMs: number): FailError {
  const rounded = Math.round(timeoutMs);
  const seconds = rounded >= 1000 ? `${Math.round(rounded / 100) / 10} s` : `${rounded} ms`;
  return new FailError(
    fail(
      "timeout",
      `Timed out after ${seconds} without an answer. Raise the timeout of this source or tool if the work ` +
        "takes longer.",
      {
        details: { timeoutMs: rounded },
      },
    ),
  );
}

export function cancelledFailure(reason: unknown): FailError {
  if (reason instanceof FailError) return reason;
  return new FailError(fail("cancelled", "The caller cancelled the call or went away.", { cause: reason }));
}
