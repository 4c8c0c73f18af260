import type { Cancellation } from "../calls/cancellation.ts";
import type { Outcome } from "../calls/outcome.ts";
import { pause } from "./wait.ts";

/** A longer `retryAfterMs` is returned to the caller instead of waited for. */
const LONGEST_PAUSE_MS = 60_000;
/** Pause between tries without a given retry time: doubles from the first up to the last. */
const FIRST_PAUSE_MS = 100;
const LAST_PAUSE_MS = 2000;
/** A pause that rounds to zero would repeat without end. */
const SHORTEST_PAUSE_MS = 5;

export interface RetryBudget {
  readonly cancellation: Cancellation;
  /** Milliseconds that remain for the answer. */
  readonly remainingMs: () => number;
}

/** The members that decide about another try; an outcome has them. */
export type RetryDecision = Pick<Extract<Outcome, { ok: false }>, "kind" | "retryable" | "retryAfterMs">;

/**
 * Returns the outcome of `attempt`, repeated while the answer is a temporary limit and the remaining time allows it.
 * Rejects with a `FailError` once cancelled.
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
