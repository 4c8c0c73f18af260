import { formatDuration } from "../core/text/duration.ts";
import { KINDS } from "../core/calls/kinds.ts";
import { fail, type Fail, type Outcome } from "../core/calls/outcome.ts";
import { PROVIDER_KINDS } from "../core/sources/provider-kinds.ts";
import type { BlockedCircuit, Breakers } from "./breakers.ts";
import { isIdempotent } from "../core/calls/effects.ts";
import type { RetryOptions } from "./options.ts";
import type { Provider } from "../core/sources/provider.ts";
import type { PipelineDeps } from "./ports.ts";
import type { CallState, Next, Stage } from "./state.ts";
import { pause } from "../core/timing/wait.ts";

/** Refuses calls to a server that keeps failing, and repeats calls that may be repeated (C45). */
export function guardStage({ breakers, options }: PipelineDeps): Stage {
  return (state, next) => {
    if (!PROVIDER_KINDS[state.found.provider.source.kind].oneServer) return attempt(state, next, options.retries);
    return throughBreaker({ breakers, retries: options.retries }, state, next);
  };
}

interface CallGuardOptions {
  readonly breakers: Breakers;
  readonly retries: RetryOptions;
}

async function throughBreaker({ breakers, retries }: CallGuardOptions, state: CallState, next: Next): Promise<Outcome> {
  const { provider } = state.found;
  const server = provider.serverFor?.(state.call.principal) ?? provider;
  const startedAt = performance.now();
  const blocked = breakers.enter(server, startedAt);
  if (blocked) return blockedFailure(provider.source.id, blocked);
  let outcome: Outcome | undefined;
  try {
    outcome = await attempt(state, next, retries);
    return outcome;
  } finally {
    if (outcome?.ok) breakers.succeeded(server);
    else if (!outcome || isNeutral(outcome, state) || isExpectedOutage(outcome, provider))
      breakers.abandoned(server, startedAt);
    else if (KINDS[outcome.kind].breaker === "failure") breakers.failed(server, startedAt, outcome.message);
    else breakers.succeeded(server);
  }
}

function isNeutral(outcome: Fail, { call }: CallState): boolean {
  // If the caller's own deadline ended the call, the timeout does not count as a failure of the server.
  const isCallersTime = outcome.kind === "timeout" && call.deadline?.signal.aborted === true;
  return isCallersTime || KINDS[outcome.kind].breaker === "none";
}

/**
 * Returns true if the failure must not count. A server with an outage report is tried at every call, because a refused
 * connection costs little. A server that is being downloaded has not failed.
 */
function isExpectedOutage(outcome: Fail, provider: Provider): boolean {
  if (outcome.kind === "timeout") return provider.status().installing !== undefined;
  const { outage } = provider.source;
  return outage !== undefined && outcome.kind === "unavailable" && outcome.details?.["sent"] === false;
}

function blockedFailure(source: string, { retryAfterMs, failures, lastMessage }: BlockedCircuit): Fail {
  const message =
    `${source} failed ${failures} times in a row and is not called now; the next attempt is in ` +
    `${formatDuration(retryAfterMs)}. The last failure: ${lastMessage}`;
  return fail("unavailable", message, { retryAfterMs, details: { breaker: "open", failures } });
}

async function attempt(state: CallState, next: Next, retries: RetryOptions): Promise<Outcome> {
  for (let retry = 0; ; retry += 1) {
    const outcome = await next(state);
    if (outcome.ok || retry + 1 >= retries.attempts || !mayRetry(outcome, state)) return outcome;
    const delayMs = delayBefore(retry, outcome, retries);
    if (delayMs === undefined || delayMs >= state.deadline.remainingMs) return outcome;
    await pause(delayMs, state.deadline.cancellation);
  }
}

function mayRetry(failure: Fail, state: CallState): boolean {
  // The failure of an inner call was already retried as often as allowed, so it is not retried again.
  if (failure.attempts !== undefined || state.deadline.cancellation.aborted) return false;
  const { retry } = KINDS[failure.kind];
  if (retry === "always") return mayReconnect(failure, state);
  return retry === "if-idempotent" && isIdempotent(state.found.target);
}

// Returns true if the call may be repeated after a reconnect. `details.sent: false` guarantees that the server has not
// received the call; otherwise it may have run it.
function mayReconnect({ retryable, details }: Fail, state: CallState): boolean {
  const sent = details?.["sent"];
  if (sent === false) return retryable;
  return (retryable || sent === true) && isIdempotent(state.found.target);
}

/**
 * Returns the exponential backoff with full jitter. Returns `undefined` if the server requires a longer pause than a
 * retry may take.
 */
function delayBefore(
  retry: number,
  { retryAfterMs = 0 }: Fail,
  { baseDelayMs, maxDelayMs }: RetryOptions,
): number | undefined {
  if (retryAfterMs > maxDelayMs) return undefined;
  return Math.max(retryAfterMs, Math.random() * Math.min(maxDelayMs, baseDelayMs * 2 ** retry));
}
