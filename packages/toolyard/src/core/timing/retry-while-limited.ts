import type { Cancellation } from "../calls/cancellation.ts";
import type { Outcome } from "../calls/outcome.ts";
import { pause } from "./wait.ts";

/** Maximum pause in milliseconds. If `retryAfterMs` is longer, the failure is returned to the caller. */
const LONGEST_PAUSE_MS = 60_000;
/** First and last pause between attempts if no retry time is given; the pause doubles from the first to the last. */
const FIRST_PAUSE_MS = 100;
const LAST_PAUSE_MS = 2000;
/** Minimum pause in milliseconds. A pause of zero would repeat without end. */
const SHORTEST_PAUSE_MS = 5;

export interface RetryBudget {
  readonly cancellation: Cancellation;
  /** Returns the milliseconds that remain for the answer. */
  readonly remainingMs: () => number;
}

/** Members of an outcome that decide whether another attempt is made. */
export type RetryDecision = Pick<Extract<Outcome, { ok: false }>, "kind" | "retryable" | "retryAfterMs">;

/**
 * Resolves with the outcome of `attempt`. Repeats it while the outcome is a temporary limit and the remaining time
 * allows it. Rejects with a `FailError` when cancelled.
 */
export async function whileLimited<T extends { readonly ok: boolean }>(
  attempt: () => Promise<T>,
  { cancellation, remainingMs }: RetryBudget,
): Promise<T> {
  let unsaidMs = FIRST_PAUSE_MS;
  for (;;) {
    const answer = await attempt();
    if (!isTooEarly(answer)) return answer;
    const pauseMs = Math.max(SHORTEST_PAUSE_MS, answer.retryAfterMs ?? unsaidMs);
    if (pauseMs > LONGEST_PAUSE_MS || pauseMs >= remainingMs()) return answer;
    unsaidMs = Math.min(2 * unsaidMs, LAST_PAUSE_MS);
    await pause(pauseMs, cancellation);
  }
}

function isTooEarly<T extends { readonly ok: boolean }>(answer: T): answer is T & RetryDecision {
  const { kind, retryable } = answer as Partial<RetryDecision>;
  return !answer.ok && kind === "limited" && retryable === true;
}
