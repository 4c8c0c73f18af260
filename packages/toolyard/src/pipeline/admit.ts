import { LOCAL_PRINCIPAL, type Call, type Client, type Principal } from "../core/calls/call.ts";
import { formatDuration } from "../core/text/duration.ts";
import { fail, type Fail, type Outcome } from "../core/calls/outcome.ts";
import type { ToolRecord } from "../core/sources/records.ts";
import { holderOf } from "../core/fairness/shares.ts";
import type { Admission, LimitBounds } from "../state/ports/limit-store.ts";
import { RATE_PER_MINUTE, type LimitsOptions } from "./options.ts";
import type { PipelineDeps } from "./ports.ts";
import type { CallState, Next, Stage } from "./state.ts";
import { ToolGates } from "./tool-gates.ts";
import { orAborted } from "../core/timing/wait.ts";

/**
 * Factor for the limit of all connections of one principal together: the limit of one connection times this factor. So
 * a client cannot avoid the limit by opening more connections.
 */
const CONNECTIONS_OF_ONE = 16;
/** Milliseconds after which a call to a full queue may be repeated. */
const QUEUE_RETRY_MS = 1000;

/** Limits the calls of one client and the concurrent calls of one tool (S5). */
export function admitStage({ limitStore, options }: PipelineDeps): Stage {
  const throughGate = toolGate(options.queue);
  const sharesOf = keptByCaller(({ principal, client }) => {
    const own: LimitBounds = { perMinute: ratePerMinute(principal, options), inFlight: options.inFlight };
    if (client.connection === undefined) return [{ key: principal.id, bounds: own }];
    // All calls of a connection arrive at this hub, so only this hub counts them.
    const ofConnection: LimitBounds = { ...own, isOwn: true };
    const joint: LimitBounds = {
      perMinute: own.perMinute * CONNECTIONS_OF_ONE,
      inFlight: own.inFlight * CONNECTIONS_OF_ONE,
    };
    // The principal's share is checked first, so that a client cannot fill the store by opening many connections.
    return [
      { key: `${principal.id}\n`, bounds: joint },
      { key: `${principal.id}\n${client.connection}`, bounds: ofConnection },
    ];
  });
  return async (state, next) => {
    // A call within a running call is not counted, because its outer call already is.
    if (state.call.parent !== undefined) return throughGate(state, next);
    const taken: string[] = [];
    try {
      for (const { key, bounds } of sharesOf(state.call)) {
        const answer = limitStore.admit(key, bounds, state.meta);
        const admission =
          answer instanceof Promise ? await admitted(answer, state, () => limitStore.leave(key)) : answer;
        if (!admission.admitted) return limitedFailure(admission);
        taken.push(key);
      }
      return await throughGate(state, next);
    } finally {
      for (const key of taken.toReversed()) limitStore.leave(key);
    }
  };
}

/** Returns the rate of the caller, otherwise the default. Local programs have no default. */
function ratePerMinute(principal: Principal, options: LimitsOptions): number {
  const isLocal = principal.id === LOCAL_PRINCIPAL.id && principal.remote !== true;
  return principal.ratePerMinute ?? options.ratePerMinute ?? (isLocal ? 0 : RATE_PER_MINUTE);
}

interface Share {
  readonly key: string;
  readonly bounds: LimitBounds;
}

type SharesOf = (call: Pick<Call, "principal" | "client">) => readonly Share[];

/**
 * Caches the shares by client object, which is the same in each call over one connection, or by principal for a call
 * without a connection.
 */
function keptByCaller(make: SharesOf): SharesOf {
  const kept = new WeakMap<Client | Principal, { readonly principal: Principal; readonly shares: readonly Share[] }>();
  return (call) => {
    const caller = call.client.connection === undefined ? call.principal : call.client;
    const known = kept.get(caller);
    if (known?.principal === call.principal) return known.shares;
    const shares = make(call);
    kept.set(caller, { principal: call.principal, shares });
    return shares;
  };
}

// If the admission is granted only after the call has ended, it is released immediately.
async function admitted(answer: Promise<Admission>, state: CallState, leave: () => void): Promise<Admission> {
  try {
    return await orAborted(answer, state.deadline.cancellation);
  } catch (error) {
    void leaveLater(answer, leave);
    throw error;
  }
}

async function leaveLater(answer: Promise<Admission>, leave: () => void): Promise<void> {
  const admission = await answer.catch(() => undefined);
  if (admission?.admitted) leave();
}

/** Limits the concurrent calls of one tool. Up to `queue` calls may wait. */
function toolGate(queue: number): Stage {
  const gates = new ToolGates(queue);
  const enter = async ({ tool, maxConcurrent }: LimitedTool, state: CallState, next: Next): Promise<Outcome> => {
    const entry = { key: `${tool.source.id}\n${tool.name}`, holder: holderOf(state.call) };
    const isIn = await gates.enter(entry, Math.max(1, maxConcurrent), state.deadline.cancellation);
    if (!isIn) return queueFailure(state.found.name, maxConcurrent);
    try {
      return await next(state);
    } finally {
      gates.leave(entry);
    }
  };
  return (state, next) => {
    const { target, limits } = state.found;
    const maxConcurrent =
      target.type === "tool" ? (target.tool.limits?.maxConcurrent ?? limits?.maxConcurrent) : undefined;
    if (target.type !== "tool" || maxConcurrent === undefined) return next(state);
    return enter({ tool: target.tool, maxConcurrent }, state, next);
  };
}

interface LimitedTool {
  readonly tool: ToolRecord;
  readonly maxConcurrent: number;
}

function limitedFailure({ reason, retryAfterMs }: Exclude<Admission, { admitted: true }>): Fail {
  const what = {
    rate: "Too many calls in the last minute",
    "in-flight": "Too many calls of this client run at the same time",
    full: "Too many clients call at the same time",
    store: "The shared store that counts calls cannot be reached (`store.on_loss` is `refuse`)",
  }[reason];
  return fail("limited", `${what}. Try again in ${formatDuration(retryAfterMs)}.`, {
    retryAfterMs,
    details: { reason },
  });
}

function queueFailure(name: string, maxConcurrent: number): Fail {
  const message =
    `${name} runs ${maxConcurrent} at a time and its queue is full. ` +
    `Try again in ${formatDuration(QUEUE_RETRY_MS)}.`;
  return fail("limited", message, { retryAfterMs: QUEUE_RETRY_MS, details: { reason: "queue" } });
}
