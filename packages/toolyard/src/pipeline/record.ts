import { LOCAL_PRINCIPAL } from "../core/calls/call.ts";
import { internalFailureText, FailError, messageOf } from "../core/errors.ts";
import { countLimited, processActivity } from "../core/process-activity.ts";
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
    state.isOver = true;
    const durationMs = Math.round((performance.now() - startedAt) * 10) / 10;
    const seen = seenOf(state, outcome, durationMs);
    if (!outcome.ok) countRefusal(outcome);
    writeAudit?.(seen, state.call.arguments);
    writeLog(seen, outcome);
    notifyListeners(seen, state);
    if (outcome.ok && outcome.result["_meta"] === undefined) return outcome;
    const answer = withOutageReport(deps.isMirror === true ? outcome : withoutReportedKind(outcome, state), state);
    return answer.ok || !deps.hide ? answer : withoutSecrets(answer, deps.hide);
  };
}

function countRefusal({ kind, details }: Fail): void {
  if (kind === "limited") countLimited(details?.["reason"]);
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

/** Returns the writer of audit lines, or `undefined` if there is no audit. */
function auditWriter({ audit, logger }: PipelineDeps): ((seen: CallSeen, args: JsonObject) => void) | undefined {
  if (audit.isSilent === true) return undefined;
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
  const clientName = client.name ?? principal.identity?.clientId;
  const argumentBytes = jsonSize(call.arguments);
  const { source, decision, rule, credentials } = state.isResolved ? decisionFacts(state, outcome) : NO_DECISION;
  // Absent members are `undefined`: an object with spreads before a member is slow to create (decision 0040).
  return {
    time: isoNow(),
    call: call.id,
    parent,
    endpoint: call.endpoint,
    profile: principal.profile?.name,
    client: clientName === undefined ? undefined : firstChars(clientName, MAX_CLIENT_CHARS),
    issuer: principal.identity?.issuer,
    principal: principal.id,
    who: principal.id === LOCAL_PRINCIPAL.id ? (client.name ?? principal.id) : principal.id,
    method: call.method,
    target: firstChars(state.isResolved ? state.found.name : call.target, MAX_TARGET_CHARS),
    source,
    decision,
    rule,
    credentials,
    kind: outcome.ok ? "ok" : outcome.kind,
    durationMs,
    // The size is infinite for a value that is nested too deeply.
    argumentBytes: argumentBytes === Infinity ? -1 : argumentBytes,
    resultBytes: state.resultBytes,
    attempts: state.attempts,
  };
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

type CallWriter = (seen: CallSeen, outcome: Outcome) => void;

function logWriter({ logger, keptLogger = logger, options, watch }: PipelineDeps): CallWriter {
  const doneLogger = watch?.isUnwritten === true ? keptLogger : logger;
  return (seen, outcome) => {
    if (outcome.ok) {
      if (seen.durationMs > options.slowCallMs) return logger.info("A call was slow.", factsOf(seen));
      // Inner calls are part of the outer call.
      const level = seen.parent === undefined ? (watch?.level ?? "debug") : "debug";
      // The facts are created only if the line is written.
      if (doneLogger[level] !== NO_LINE) doneLogger[level]("A call is done.", factsOf(seen));
      return;
    }
    const facts = factsOf(seen);
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

function factsOf({ call, principal, target, source, durationMs }: CallSeen): JsonObject {
  const facts: JsonObject = { call, principal, target };
  if (source !== undefined) facts["source"] = source;
  facts["durationMs"] = durationMs;
  return facts;
}
