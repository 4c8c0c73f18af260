import type { Cancellation } from "../calls/cancellation.ts";
import type { Outcome } from "../calls/outcome.ts";
import { pause } from "./wait.ts";

/** Whoever is told to come back later than this is told so at once. */
const LONGEST_PAUSE_MS = 60_000;
/** Between tries where nobody said how long to wait: doubles from the first up to the last. */
const FIRST_PAUSE_MS = 100;
const LAST_PAUSE_MS = 2000;
/** A pause that rounds to nothing would ask without end. */
const SHORTEST_PAUSE_MS = 5;

export interface RetryBudget {
  readonly cancellation: Cancellation;
  /** Milliseconds that are left for the answer. */
  readonly remainingMs: () => number;
}

/** What decides about another try; an outcome is one. */
export type RetryDecision = Pick<Extract<Outcome, { ok: false }>, "kind" | "retryable" | "retryAfterMs">;

/**
 * What `attempt` comes to, made again for as long as the answer is that it is too early and the time allows to come
 * back. Rejects with a `FailError` once cancelled.
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
