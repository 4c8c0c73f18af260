import { LOCAL_PRINCIPAL, type Call } from "../core/calls/call.ts";
import { internalFailureText, FailError, messageOf } from "../core/errors.ts";
import { processActivity } from "../core/process-activity.ts";
import { NO_LINE } from "../core/ports/ports.ts";
import { isoNow } from "../core/text/iso-now.ts";
import { jsonSize } from "../core/json/json-size.ts";
import type { JsonObject } from "../core/json/json.ts";
import { fail, type Fail, type Outcome } from "../core/calls/outcome.ts";
import { KINDS } from "../core/calls/kinds.ts";
import { PROVIDER_KINDS } from "../core/sources/provider-kinds.ts";
import type { CallListener, CallSeen, PipelineDeps } from "./ports.ts";
import { withoutReportedKind } from "./reported-kind.ts";
import { withOutageReport } from "./outage.ts";
import type { CallState, Stage } from "./state.ts";
import { firstChars } from "../core/text/truncate.ts";

/**
 * Creates the outermost stage: each call has one outcome and one audit line. An exception of the hub's own code becomes
 * `internal` with the call's id, and only the log has its text (S13). The log has the hub's message, even if the caller
 * gets the outage report of the source.
 */
export function recordStage(deps: PipelineDeps): Stage {
  const writeAudit = auditWriter(deps);
  const writeLog = logWriter(deps);
  const notifyListeners = listenerCaller(deps);
  return async (state, next) => {
    const startedAt = performance.now();
    let settled: Outcome;
    processActivity.calls += 1;
    try {
      settled = await next(state);
    } catch (error) {
      settled = error instanceof FailError ? error.failure : internalFailure(state, error);
    } finally {
      processActivity.calls -= 1;
    }
    const outcome = state.attempts > 1 ? { ...settled, attempts: state.attempts } : settled;
    state.close();
    const durationMs = Math.round((performance.now() - startedAt) * 10) / 10;
    const seen = seenOf(state, outcome, durationMs);
    writeAudit(seen, state.call.arguments);
    writeLog(state, outcome, durationMs);
    notifyListeners(seen, state);
    if (outcome.ok && outcome.result["_meta"] === undefined) return outcome;
    const answer = withOutageReport(deps.isMirror === true ? outcome : withoutReportedKind(outcome, state), state);
    return answer.ok || !deps.hide ? answer : withoutSecrets(answer, deps.hide);
  };
}

// Removes secrets from a failure: a server may repeat request data in an error. Results of servers are passed on
// unchanged.
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
  return fail("internal", internalFailureText(call.id), {
    details: { errorId: call.id },
    cause,
  });
}

function auditWriter({ audit, logger }: PipelineDeps): (seen: CallSeen, args: JsonObject) => void {
  return (seen, args) => {
    try {
      audit.write(seen, args);
    } catch (error) {
      logger.error("The audit line of a call could not be written.", { call: seen.call, error: messageOf(error) });
    }
  };
}

/** Returns the facts of a finished call, for the audit and for listeners. */
function seenOf(state: CallState, outcome: Outcome, durationMs: number): CallSeen {
  const { call } = state;
  const { principal, client, parent } = call;
  const { source, decision, rule, credentials } = state.isResolved ? decisionFacts(state, outcome) : NO_DECISION;
  // Absent members are `undefined`: an object with spreads before a member is slow to create (decision 0040).
  return {
    time: isoNow(),
    call: call.id,
    parent,
    endpoint: call.endpoint,
    profile: principal.profile?.name,
    client: clientName(call),
    issuer: principal.identity?.issuer,
    principal: principal.id,
    who: principal.id === LOCAL_PRINCIPAL.id ? (client.name ?? principal.id) : principal.id,
    method: call.method,
    target: targetOf(state),
    source,
    decision,
    rule,
    credentials,
    kind: outcome.ok ? "ok" : outcome.kind,
    durationMs,
    argumentBytes: finite(jsonSize(call.arguments)),
    resultBytes: finite(state.resultBytes),
    attempts: state.attempts,
  };
}

function clientName({ principal: { identity }, client }: Call): string | undefined {
  const name = client.name ?? identity?.clientId;
  return name === undefined ? undefined : firstChars(name, MAX_CLIENT_CHARS);
}

const MAX_CLIENT_CHARS = 100;

type DecisionFacts = Pick<CallSeen, "source" | "decision" | "rule" | "credentials">;

const NO_DECISION: DecisionFacts = Object.freeze({});

/**
 * Returns the facts of a call whose name resolved: its source, the decision, and the credentials that the source used.
 */
function decisionFacts({ found: { provider } }: CallState, outcome: Outcome): DecisionFacts {
  const { id, kind } = provider.source;
  const isRefused = !outcome.ok && (outcome.kind === "denied" || outcome.kind === "limited");
  const credentials = provider.serverFor ? "caller" : "hub";
  return {
    source: id,
    decision: isRefused ? outcome.kind : "allowed",
    rule: outcome.ok ? undefined : ruleOf(outcome),
    credentials: PROVIDER_KINDS[kind].oneServer ? credentials : undefined,
  };
}

/** Returns the rule that refused a call: `rights`, `scopes`, `consent`, or the exceeded limit. */
function ruleOf({ kind, details = {}, requiredScopes }: Fail): string | undefined {
  if (kind === "limited") return typeof details["reason"] === "string" ? details["reason"] : "limit";
  if (kind !== "denied") return undefined;
  if (requiredScopes) return "scopes";
  return details["confirm"] === true ? "consent" : "rights";
}

const MAX_TARGET_CHARS = 300;

function targetOf(state: CallState): string {
  return firstChars(state.isResolved ? state.found.name : state.call.target, MAX_TARGET_CHARS);
}

// Returns -1 for a value without a size, such as a cyclic value.
function finite(bytes: number): number {
  return Number.isFinite(bytes) ? bytes : -1;
}

function listenerCaller({ listeners = [], everyListeners = [], logger }: PipelineDeps): CallListener {
  const all = [...listeners, ...everyListeners];
  return (seen, state) => {
    for (const listener of seen.parent === undefined ? all : everyListeners) {
      try {
        listener(seen, state);
      } catch (error) {
        logger.error("A listener of calls failed.", { call: seen.call, error: messageOf(error) });
      }
    }
  };
}

type CallWriter = (state: CallState, outcome: Outcome, durationMs: number) => void;

function logWriter({ logger, keptLogger = logger, options, watch }: PipelineDeps): CallWriter {
  const doneLogger = watch?.isUnwritten === true ? keptLogger : logger;
  return (state, outcome, durationMs) => {
    if (outcome.ok) {
      if (durationMs > options.slowCallMs) return logger.info("A call was slow.", factsOf(state, durationMs));
      const level = levelOf(state, watch);
      // The facts are created only if the line is written.
      if (doneLogger[level] !== NO_LINE) doneLogger[level]("A call is done.", factsOf(state, durationMs));
      return;
    }
    const facts = factsOf(state, durationMs);
    facts["kind"] = outcome.kind;
    // The message is not logged if the tool failed, because it is then a result, and results are not logged.
    if (outcome.kind !== "tool_error") facts["reason"] = outcome.message;
    // An exception of a tool is not logged here, because the code that ran the tool has logged it.
    if (outcome.cause !== undefined && outcome.kind !== "tool_error") facts["cause"] = outcome.cause;
    // An error of the caller is logged like a successful call.
    const level = KINDS[outcome.kind].log;
    (level === "info" ? doneLogger : logger)[level]("A call failed.", facts);
  };
}

/** Returns the level of a call's line. Inner calls are part of the outer call. */
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
