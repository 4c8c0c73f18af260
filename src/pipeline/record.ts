import { LOCAL_PRINCIPAL } from "../core/call.ts";
import { FailError, messageOf } from "../core/errors.ts";
import { isoNow } from "../core/iso-now.ts";
import { jsonSize } from "../core/json-size.ts";
import type { JsonObject } from "../core/json.ts";
import { fail, type Fail, type Outcome } from "../core/outcome.ts";
import type { AuditLine, LogLevel } from "../core/ports.ts";
import type { FailKind } from "../core/kinds.ts";
import type { PipelineDeps } from "./ports.ts";
import { withoutReportedKind } from "./reported-kind.ts";
import { inServiceWords } from "./service-words.ts";
import type { CallState, Stage } from "./state.ts";
import { firstChars } from "../core/truncate.ts";

/**
 * The outermost stage: whatever happens further in, there is one outcome and one audit line. A fault of our own becomes
 * `internal` with the call's id; what it was stands in the log alone (S13). The log has the hub's own words, also where
 * the caller gets the service's.
 */
export function recordStage(deps: PipelineDeps): Stage {
  const writeAudit = auditWriter(deps);
  const writeLog = logWriter(deps);
  const tellWatcher = watchTeller(deps);
  return async (state, next) => {
    const startedAt = performance.now();
    let settled: Outcome;
    try {
      settled = await next(state);
    } catch (error) {
      settled = error instanceof FailError ? error.failure : internalFailure(state, error);
    }
    const outcome = withAttempts(settled, state.attempts);
    state.close();
    const durationMs = Math.round((performance.now() - startedAt) * 10) / 10;
    writeAudit(state, outcome, durationMs);
    writeLog(state, outcome, durationMs);
    tellWatcher(state, outcome, durationMs);
    const told = inServiceWords(deps.isMirror === true ? outcome : withoutReportedKind(outcome, state), state);
    return told.ok || !deps.hide ? told : withoutSecrets(told, deps.hide);
  };
}

// A server may repeat in an error what it was sent. Its results are its own business and pass as they are.
function withoutSecrets(failure: Fail, hide: <T>(value: T) => T): Fail {
  const { message, details, result, rpcError } = failure;
  return {
    ...failure,
    message: hide(message),
    ...(details && { details: hide(details) }),
    ...(result && { result: hide(result) }),
    ...(rpcError && { rpcError: hide(rpcError) }),
  };
}

function internalFailure({ call }: CallState, cause: unknown): Fail {
  return fail("internal", `Something went wrong inside the hub. Its log says more under the id ${call.id}.`, {
    details: { errorId: call.id },
    cause,
  });
}

function withAttempts(outcome: Outcome, attempts: number): Outcome {
  return attempts > 1 ? { ...outcome, attempts } : outcome;
}

type CallWriter = (state: CallState, outcome: Outcome, durationMs: number) => void;

function auditWriter({ audit, logger }: PipelineDeps): CallWriter {
  return (state, outcome, durationMs) => {
    try {
      audit.write(auditLine(state, outcome, durationMs));
    } catch (error) {
      logger.error("The audit line of a call could not be written.", { call: state.call.id, error: messageOf(error) });
    }
  };
}

function auditLine(state: CallState, outcome: Outcome, durationMs: number): AuditLine {
  const { call } = state;
  return {
    time: isoNow(),
    call: call.id,
    door: call.door,
    principal: call.principal.id,
    method: call.method,
    target: targetOf(state),
    source: state.isResolved ? state.found.provider.source.id : undefined,
    kind: outcome.ok ? "ok" : outcome.kind,
    durationMs,
    argumentBytes: finite(jsonSize(call.arguments)),
    resultBytes: finite(state.resultBytes),
    attempts: state.attempts,
  };
}

const MAX_TARGET_CHARS = 300;

function targetOf(state: CallState): string {
  return firstChars(state.isResolved ? state.found.name : state.call.target, MAX_TARGET_CHARS);
}

// What is nested without end has no size that JSON could write.
function finite(bytes: number): number {
  return Number.isFinite(bytes) ? bytes : -1;
}

/**
 * How loudly each kind of failure is told; what callers get wrong is their business, what servers get wrong is the
 * operator's.
 */
const LEVELS: Readonly<Record<FailKind, LogLevel>> = {
  tool_error: "info",
  unknown_tool: "info",
  ambiguous: "info",
  invalid_params: "info",
  denied: "info",
  limited: "warning",
  too_large: "warning",
  unavailable: "warning",
  needs_authorisation: "warning",
  timeout: "warning",
  cancelled: "debug",
  malformed: "warning",
  internal: "error",
};

function watchTeller({ watch }: PipelineDeps): CallWriter {
  return (state, outcome, durationMs) => {
    if (!watch?.onCall || state.call.parent !== undefined) return;
    const { principal, client } = state.call;
    const who = principal.id === LOCAL_PRINCIPAL.id ? (client.name ?? principal.id) : principal.id;
    watch.onCall({ who, target: targetOf(state), durationMs, kind: outcome.ok ? "ok" : outcome.kind });
  };
}

function logWriter({ logger, keptLogger = logger, options, watch }: PipelineDeps): CallWriter {
  const doneLogger = watch?.isUnwritten === true ? keptLogger : logger;
  return (state, outcome, durationMs) => {
    const facts = factsOf(state, durationMs);
    if (outcome.ok) {
      if (durationMs > options.slowCallMs) logger.info("A call was slow.", facts);
      else doneLogger[levelOf(state, watch)]("A call is done.", facts);
      return;
    }
    facts["kind"] = outcome.kind;
    // What a tool says when it fails is a result, and results stay out of the log.
    if (outcome.kind !== "tool_error") facts["reason"] = outcome.message;
    // What a tool threw was logged by whoever ran it.
    if (outcome.cause !== undefined && outcome.kind !== "tool_error") facts["cause"] = outcome.cause;
    // What callers got wrong is as unremarkable here as a call that went well.
    const level = LEVELS[outcome.kind];
    (level === "info" ? doneLogger : logger)[level]("A call failed.", facts);
  };
}

/** Those made inside of others are part of them. */
function levelOf({ call }: CallState, watch: PipelineDeps["watch"]): "info" | "debug" {
  return call.parent === undefined ? (watch?.level ?? "debug") : "debug";
}

function factsOf(state: CallState, durationMs: number): JsonObject {
  const { id, principal } = state.call;
  const facts: JsonObject = { call: id, principal: principal.id, target: targetOf(state) };
  if (state.isResolved) facts["source"] = state.found.provider.source.id;
  facts["durationMs"] = durationMs;
  return facts;
}
