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
 * Time limit of a call. The deadline ends after `idleMs` without activity (progress resets that time), after `totalMs`,
 * or when its parent ends. Its signal aborts with a `FailError` of kind `timeout`, so that waiting code receives the
 * reason. Deadlines nest: a child never outlives its parent.
 */
export class Deadline {
  readonly #canceller = new Canceller();
  /** Aborts when this deadline or a parent expires, or when the caller cancels. */
  readonly cancellation: Cancellation = this.#canceller;
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
   * If `caller` is given, its abort also ends the deadline, with kind `cancelled`, so that the work needs only one
   * signal.
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

  // A static method, because on Node 20 closures that a constructor creates live until a full garbage collection.
  static #endOf(deadline: Deadline, cause: Cancellation): () => void {
    return () => deadline.#end(cancelledFailure(cause.reason));
  }

  static readonly #wake = (deadline: Deadline): void => deadline.#check();

  /** The equivalent `AbortSignal`, for code that needs one. */
  get signal(): AbortSignal {
    return this.#canceller.signal;
  }

  /** Latest possible end of the call, on the clock of `performance.now()`. */
  get endsAt(): number {
    return this.#endsAt;
  }

  /** Milliseconds until the idle or the total limit, the earlier of both; never below 0. */
  get remainingMs(): number {
    const idleEnd = this.#holds > 0 ? Infinity : this.#touchedAt + this.#budget.idleMs;
    const own = Math.min(idleEnd, this.#endsAt) - performance.now();
    return Math.max(0, Math.min(own, this.#parent?.remainingMs ?? Infinity));
  }

  /** Replaces the budget when more is known about the call. The new budget counts from the start of the deadline. */
  adapt(budget: Budget): void {
    if (this.#over) return;
    this.#budget = budget;
    this.#endsAt = Math.min(this.#startedAt + budget.totalMs, this.#parent?.endsAt ?? Infinity);
    this.#arm();
  }

  /** Records activity: restarts the idle time of this deadline and of all its parents. */
  touch(): void {
    this.#touchedAt = performance.now();
    this.#parent?.touch();
  }

  /**
   * Pauses the idle time of this deadline and of all its parents until the returned function is called. Used while the
   * hub waits for a user.
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
   * Stops the timer, and releases the parent and the caller. The creator of the deadline calls this when the work has
   * ended.
   */
  clear(): void {
    if (this.#over) return;
    this.#over = true;
    clearTimeout(this.#timer);
    if (this.#onParent) this.#parent!.cancellation.removeEventListener("abort", this.#onParent);
    if (this.#onCaller) this.#caller!.removeEventListener("abort", this.#onCaller);
  }

  // `touch` only records the time, and one timer re-arms itself, because setting a timer at each activity would be
  // expensive.
  #arm(): void {
    if (this.#over) return;
    const idleEnd = this.#holds > 0 ? Infinity : this.#touchedAt + this.#budget.idleMs;
    // If the parent's limit is the earlier one, the parent must report it. The child's timer therefore fires a little
    // later, so that its failure does not become the answer.
    const isParents = this.#endsAt < this.#startedAt + this.#budget.totalMs;
    const wakesAt = Math.min(idleEnd, this.#endsAt + (isParents ? AFTER_PARENT_MS : 0));
    if (this.#timer !== undefined && this.#wakesAt === wakesAt) return;
    clearTimeout(this.#timer);
    this.#wakesAt = wakesAt;
    this.#timer = undefined;
    if (wakesAt === Infinity) return;
    const delayMs = Math.min(Math.max(wakesAt - performance.now(), 1), MAX_TIMER_MS);
    this.#timer = setTimeout(Deadline.#wake, delayMs, this);
    this.#timer.unref();
  }

  #check(): void {
    this.#timer = undefined;
    // Timers may fire a millisecond early, so this tolerance is added.
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
  // Many calls may share a caller, so many listeners are not a leak.
  if (cancellation instanceof AbortSignal) setMaxListeners(0, cancellation);
  cancellation.addEventListener("abort", onAbort, ONCE);
}

const ONCE = Object.freeze({ once: true });

/** Time after the parent's end at which a child ends itself, if its parent was cleared and cannot end it. */
const AFTER_PARENT_MS = 20;

/** Maximum delay of `setTimeout`; a larger one overflows and fires immediately. */
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
  return new FailError(fail("cancelled", "The caller cancelled the call or disconnected.", { cause: reason }));
}
