import { firstChars } from "../../core/text/truncate.ts";
import { stringifyValue } from "../../core/json/json-text.ts";
import type { Call } from "../../core/calls/call.ts";
import type { Outcome } from "../../core/calls/outcome.ts";
import type { Span } from "../../core/ports/tracing.ts";
import { factsOf, isHubItself } from "../../core/sources/provider-kinds.ts";
import { TRACEPARENT } from "../../core/trace-context.ts";
import { ANSWER_TIME, TIMED, type StagePlace } from "../../pipeline/stage-place.ts";
import type { CallState, Next, Stage } from "../../pipeline/state.ts";
import type { RecordedSpan } from "../../telemetry/otlp/otlp-span.ts";
import { withUnsampledContext, type Tracer } from "../../telemetry/otlp/tracer.ts";

/** Minimum milliseconds in a stage that count as waiting and get a span. */
const MIN_WAIT_MS = 1;
/** Maximum length of recorded arguments and results, before secrets are removed. */
const MAX_VALUE_CHARS = 8192;
/** Stages that may wait before the next stage runs. `resolve` includes `deadline`, which never waits. */
const WAITING = ["resolve", ...TIMED.slice(0, -1)] as const;
const GUARD = WAITING.length - 1;
/** Endpoints that start a server span for each request. The sampler has decided about their calls. */
const REQUEST_ENDPOINTS: ReadonlySet<string> = new Set(["jsonrpc", "rest", "mcp-http", "mcp-sse", "mcp-stdio"]);

export interface CallStageOptions {
  readonly hasArguments: boolean;
  readonly hasResults: boolean;
}

/** A recorded call. */
interface CallTrace {
  readonly span: RecordedSpan;
  /** True if the span is that of the request, which ends later. */
  readonly isRequest: boolean;
  /** Number of stages, counted from the first one, with a recorded wait. */
  waits: number;
  /** Number of attempts that began. */
  attempts: number;
}

/**
 * Returns the stages that record calls. Without traces, the pipeline has none of them. A call that is not sampled
 * passes both stages without an additional promise or object.
 */
export function callStages(tracer: Tracer, options: CallStageOptions): readonly StagePlace[] {
  const load = (stage: Stage) => () => Promise.resolve(stage);
  return [
    { after: "record", load: load(callStage(tracer, options)) },
    { after: "normalise", load: load(runStage(tracer)) },
  ];
}

/**
 * Describes the call in the span of its request, or starts a span for a call without a request: inner calls, library,
 * agent.
 */
function callStage(tracer: Tracer, options: CallStageOptions): Stage {
  const recorded = recordedCall(tracer, options);
  return (state, next) => {
    const { call } = state;
    const context = call.meta[TRACEPARENT];
    if (context === undefined && isDecided(call)) return next(state);
    const request = tracer.find(context);
    const isRequest = request !== undefined && isUndescribed(request, call);
    const span = isRequest ? request : tracer.start(`execute ${call.method}`, "internal", call.meta);
    if (!span) return next(state);
    if (span.meta !== call.meta) state.meta = span.meta;
    const trace: CallTrace = { span: span as RecordedSpan, isRequest, waits: 0, attempts: 0 };
    state.trace = trace;
    return recorded(state, next, trace);
  };
}

/** Returns true if the absence of a context means that the trace of the call is not sampled. */
function isDecided({ parent, endpoint }: Call): boolean {
  return parent !== undefined || REQUEST_ENDPOINTS.has(endpoint);
}

function recordedCall(
  tracer: Tracer,
  options: CallStageOptions,
): (state: CallState, next: Next, trace: CallTrace) => Promise<Outcome> {
  return async (state, next, trace) => {
    const { span, isRequest } = trace;
    span.isDescribed = true;
    state.times ??= [performance.now()];
    let outcome: Outcome | undefined;
    try {
      outcome = await next(state);
      return outcome;
    } finally {
      if (trace.attempts === 0) recordWaits(state, tracer, trace);
      describe(state, span, options);
      const error = errorOf(outcome);
      if (outcome?.ok && options.hasResults) span.set("result", textOf(outcome.result));
      span.set("outcome", error ?? "ok");
      if (!isRequest) span.end(error);
    }
  };
}

/** Returns true if the request itself made the call and the request's span records no call yet. */
function isUndescribed({ isRequest, isDescribed }: RecordedSpan, { parent }: Call): boolean {
  return isRequest && !isDescribed && parent === undefined;
}

/** Returns the outcome code of a failure. `undefined` as outcome: the call threw. */
function errorOf(outcome: Outcome | undefined): string | undefined {
  if (!outcome) return "internal";
  return outcome.ok ? undefined : outcome.kind;
}

function describe(state: CallState, span: RecordedSpan, { hasArguments }: CallStageOptions): void {
  const { call } = state;
  const name = state.isResolved ? state.found.name : call.target;
  const isTool = call.method === "tools/call";
  span.rename(isTool || call.method === "prompts/get" ? `${call.method} ${name}` : call.method);
  span.set("method", call.method);
  span.set("endpoint", call.endpoint);
  if (isTool) {
    span.set("operation", "execute_tool");
    span.set("tool", name);
  }
  if (call.method === "prompts/get") span.set("prompt", name);
  if (call.method === "resources/read") span.set("resource", name);
  if (state.isResolved) {
    span.set("source", state.found.provider.source.id);
    span.set("sourceKind", state.found.provider.source.kind);
  }
  if (state.attempts > 1) span.set("attempts", state.attempts);
  if (hasArguments) span.set("arguments", textOf(call.arguments));
}

/** Records the stages in which the call waited, up to now. The pipeline has noted the start of each stage. */
function recordWaits({ times = [] }: CallState, tracer: Tracer, trace: CallTrace): void {
  const now = performance.now();
  for (; trace.waits < Math.min(WAITING.length, times.length); trace.waits += 1) {
    const startMs = times[trace.waits] ?? now;
    recordWait(WAITING[trace.waits]!, { startMs, endMs: times[trace.waits + 1] ?? now }, { tracer, trace });
  }
}

function recordWait(
  stage: string,
  { startMs, endMs }: { readonly startMs: number; readonly endMs: number },
  { tracer, trace }: { readonly tracer: Tracer; readonly trace: CallTrace },
): void {
  if (endMs - startMs < MIN_WAIT_MS) return;
  const wait = tracer.recordFrom(`wait ${stage}`, startMs, trace.span);
  wait.set("stage", stage);
  wait.end(undefined, endMs);
}

/** Tool of the hub that runs code in the sandbox. */
const SANDBOX_TOOL = "execute_code";

/**
 * Returns the name of the span of a run in another process or engine. Requests to servers have client spans instead,
 * and the span of the call itself shows the time of a module.
 */
function runName({ found: { provider, target } }: CallState): string | undefined {
  const { kind } = provider.source;
  if (factsOf(kind).runsProgram === true) return `run ${kind}`;
  const isSandbox = isHubItself(provider.source) && target.type === "tool" && target.tool.name === SANDBOX_TOOL;
  return isSandbox ? "run sandbox" : undefined;
}

function runStage(tracer: Tracer): Stage {
  return (state, next) => {
    if (!state.trace) return unsampledRun(state, next);
    const trace = state.trace as CallTrace;
    recordAttempt(state, tracer, trace);
    const name = runName(state);
    const span = name === undefined ? undefined : tracer.start(name, "internal", trace.span.meta);
    return span ? recordedRun(state, next, span) : next(state);
  };
}

/** Records the waits before an attempt. The retry of a call waits in `guard`. */
function recordAttempt(state: CallState, tracer: Tracer, trace: CallTrace): void {
  const endMs = performance.now();
  trace.attempts += 1;
  if (trace.attempts === 1) return recordWaits(state, tracer, trace);
  recordWait(WAITING[GUARD]!, { startMs: state.times?.[ANSWER_TIME] ?? endMs, endMs }, { tracer, trace });
}

/**
 * Gives a call that is not sampled a context for the program that continues it, so that the program does not start
 * another trace. Code in this process needs no context.
 */
function unsampledRun(state: CallState, next: Next): Promise<Outcome> {
  const { oneServer, runsProgram = false } = factsOf(state.found.provider.source.kind);
  const isContinued = oneServer || runsProgram;
  if (isContinued && state.call.meta[TRACEPARENT] === undefined) state.meta = withUnsampledContext(state.call.meta);
  return next(state);
}

async function recordedRun(state: CallState, next: Next, span: Span): Promise<Outcome> {
  span.set("source", state.found.provider.source.id);
  state.meta = span.meta;
  let outcome: Outcome | undefined;
  try {
    outcome = await next(state);
    return outcome;
  } finally {
    span.end(errorOf(outcome));
  }
}

function textOf(value: unknown): string {
  return firstChars(stringifyValue(value), MAX_VALUE_CHARS);
}
