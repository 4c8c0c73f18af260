import { firstChars } from "../../core/text/truncate.ts";
import { stringifyValue } from "../../core/json/json-text.ts";
import type { Call } from "../../core/calls/call.ts";
import type { Outcome } from "../../core/calls/outcome.ts";
import type { SharedFacts, Span, SpanFact } from "../../core/ports/tracing.ts";
import { factsOf, isHubItself } from "../../core/sources/provider-kinds.ts";
import type { Source } from "../../core/sources/records.ts";
import { TRACEPARENT } from "../../core/trace-context.ts";
import type { CallListener, FoundCall } from "../../pipeline/ports.ts";
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
  readonly state: CallState;
  /** True if the span is that of the request, which ends later. */
  readonly isRequest: boolean;
  /** Number of stages, counted from the first one, with a recorded wait. */
  waits: number;
  /** Number of attempts that began. */
  attempts: number;
}

/** Code that records calls: stages of the pipeline, and a listener that gets each finished call. */
export interface StageRecorder {
  readonly stages: readonly StagePlace[];
  readonly onEveryCall: CallListener;
}

/**
 * Returns the code that records calls. Without traces, the pipeline has none of it. No stage adds a promise to a call,
 * unless the call is a run in another process or its result is recorded.
 */
export function recordCalls(tracer: Tracer, { hasArguments, hasResults }: CallStageOptions): StageRecorder {
  const load = (stage: Stage) => () => Promise.resolve(stage);
  const subjects = new CallSubjects();
  return {
    stages: [
      { after: "record", load: load(callStage(tracer)) },
      ...(hasResults ? [{ after: "record", load: load(resultStage) } as const] : []),
      { after: "normalise", load: load(runStage(tracer)) },
    ],
    onEveryCall: ({ kind }, { trace: given }) => {
      if (given === undefined) return;
      const trace = given as CallTrace;
      const { state, span, isRequest } = trace;
      if (trace.attempts === 0) recordWaits(tracer, trace);
      describe(state, span, subjects);
      if (hasArguments) span.set("arguments", textOf(state.call.arguments));
      span.set("outcome", kind);
      if (!isRequest) span.end(kind === "ok" ? undefined : kind);
    },
  };
}

/**
 * Finds the span of a call: that of its request, or a new one for a call without a request: inner calls, library,
 * agent.
 */
function callStage(tracer: Tracer): Stage {
  return (state, next) => {
    const { call } = state;
    const { requestSpan } = call;
    if (requestSpan ? !requestSpan.isRecording : isDecided(call)) return next(state);
    const isRequest = requestSpan?.isDescribed === false;
    const span = isRequest
      ? (requestSpan as RecordedSpan)
      : tracer.start(`execute ${call.method}`, "internal", call.meta);
    if (!span) return next(state);
    // The subject is complete at the end of the call. A further call of the request gets a span of its own.
    span.describe(NO_SUBJECT);
    if (!isRequest) state.replaceMeta(span.meta);
    state.trace = { span, state, isRequest, waits: 0, attempts: 0 } satisfies CallTrace;
    state.times ??= [performance.now()];
    return next(state);
  };
}

const NO_SUBJECT: SharedFacts = { values: {} };

/** Returns true if the absence of a context means that the trace of the call is not sampled. */
function isDecided({ parent, endpoint, meta }: Call): boolean {
  return meta[TRACEPARENT] === undefined && (parent !== undefined || REQUEST_ENDPOINTS.has(endpoint));
}

const resultStage: Stage = async (state, next) => {
  const outcome = await next(state);
  const trace = state.trace as CallTrace | undefined;
  if (trace && outcome.ok) trace.span.set("result", textOf(outcome.result));
  return outcome;
};

/** Returns the outcome code of a failure. `undefined` as outcome: the call threw. */
function errorOf(outcome: Outcome | undefined): string | undefined {
  if (!outcome) return "internal";
  return outcome.ok ? undefined : outcome.kind;
}

function describe(state: CallState, span: RecordedSpan, subjects: CallSubjects): void {
  const { call } = state;
  if (span.kind !== "server") span.set("endpoint", call.endpoint);
  if (state.attempts > 1) span.set("attempts", state.attempts);
  if (state.isResolved) return span.describe(subjects.get(call, state.found));
  // Callers choose the name, so it is no shared fact.
  const { name, values } = subjectOf(call.method, call.target);
  span.rename(name);
  for (const [fact, value] of Object.entries(values) as [SpanFact, string][]) span.set(fact, value);
}

interface TargetFacts {
  readonly name: string;
  readonly values: SharedFacts["values"];
}

function subjectOf(method: Call["method"], name: string): TargetFacts {
  const title = `${method} ${name}`;
  if (method === "tools/call") return { name: title, values: { method, operation: "execute_tool", tool: name } };
  if (method === "prompts/get") return { name: title, values: { method, prompt: name } };
  return { name: method, values: method === "resources/read" ? { method, resource: name } : { method } };
}

/** Maximum number of tools and other targets with shared facts. */
const MAX_SUBJECTS = 10_000;

/** Facts about the targets of calls, by name. */
class CallSubjects {
  readonly #byName = new Map<
    string,
    { readonly method: string; readonly source: Source; readonly facts: SharedFacts }
  >();

  get({ method }: Call, { name, provider: { source } }: FoundCall): SharedFacts {
    const known = this.#byName.get(name);
    // A tool and a prompt may have the same name, and a reload may move a name to another source.
    if (known?.method === method && known.source === source) return known.facts;
    if (this.#byName.size >= MAX_SUBJECTS) this.#byName.clear();
    const { name: title, values } = subjectOf(method, name);
    const facts = { name: title, values: { ...values, source: source.id, sourceKind: source.kind } };
    this.#byName.set(name, { method, source, facts });
    return facts;
  }
}

/** Records the stages in which the call waited, up to now. The pipeline has noted the start of each stage. */
function recordWaits(tracer: Tracer, trace: CallTrace): void {
  const { times = [] } = trace.state;
  const count = Math.min(WAITING.length, times.length);
  // Most calls wait nowhere. The attempt follows the start of the last stage, so the time is not read again.
  const now = times[WAITING.length] ?? performance.now();
  if (now - (times[0] ?? now) < MIN_WAIT_MS) {
    trace.waits = count;
    return;
  }
  for (; trace.waits < count; trace.waits += 1) {
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
    recordAttempt(tracer, trace);
    const name = runName(state);
    const span = name === undefined ? undefined : tracer.start(name, "internal", trace.span.meta);
    return span ? recordedRun(state, next, span) : next(state);
  };
}

/** Records the waits before an attempt. The retry of a call waits in `guard`. */
function recordAttempt(tracer: Tracer, trace: CallTrace): void {
  trace.attempts += 1;
  if (trace.attempts === 1) return recordWaits(tracer, trace);
  const endMs = performance.now();
  recordWait(WAITING[GUARD]!, { startMs: trace.state.times?.[ANSWER_TIME] ?? endMs, endMs }, { tracer, trace });
}

/**
 * Gives a call that is not sampled a context for the program that continues it, so that the program does not start
 * another trace. Code in this process needs no context.
 */
function unsampledRun(state: CallState, next: Next): Promise<Outcome> {
  const { oneServer, runsProgram = false } = factsOf(state.found.provider.source.kind);
  const isContinued = oneServer || runsProgram;
  if (isContinued && state.call.meta[TRACEPARENT] === undefined)
    state.replaceMeta(withUnsampledContext(state.call.meta));
  return next(state);
}

async function recordedRun(state: CallState, next: Next, span: Span): Promise<Outcome> {
  span.set("source", state.found.provider.source.id);
  state.replaceMeta(span.meta);
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
