import { firstChars } from "../../core/text/truncate.ts";
import { stringifyValue } from "../../core/json/json-text.ts";
import type { Span } from "../../core/ports/tracing.ts";
import type { Outcome } from "../../core/calls/outcome.ts";
import { factsOf, isHubItself } from "../../core/sources/provider-kinds.ts";
import type { StageName, StagePlace } from "../../pipeline/stage-place.ts";
import type { CallState, Next, Stage } from "../../pipeline/state.ts";
import type { RecordedSpan } from "../../telemetry/otlp/otlp-span.ts";
import { isUnsampled, type Tracer } from "../../telemetry/otlp/tracer.ts";

/** Milliseconds from which a stage counts as waiting and gets a span. */
const MIN_WAIT_MS = 1;
/** Maximum length of recorded arguments and results, before secrets are removed. */
const MAX_VALUE_CHARS = 8192;
/** Stages that may wait before the next stage runs, in their order. */
const WAITING: readonly Exclude<StageName, "execute" | "record" | "normalise">[] = [
  "deadline",
  "resolve",
  "authorise",
  "validate",
  "admit",
  "guard",
];

export interface CallStageOptions {
  readonly hasArguments: boolean;
  readonly hasResults: boolean;
}

/** Time at which a recorded call entered its current stage. */
interface CallTrace {
  readonly span: RecordedSpan;
  enteredAt: number;
}

/** Returns the stages that record calls. Without traces, the pipeline has none of them. */
export function callStages(tracer: Tracer, options: CallStageOptions): readonly StagePlace[] {
  const traces = new WeakMap<CallState, CallTrace>();
  const load = (stage: Stage) => () => Promise.resolve(stage);
  return [
    { after: "record", load: load(callStage(tracer, traces, options)) },
    ...WAITING.map((name) => ({ after: name, load: load(waitStage(name, tracer, traces)) })),
    { after: "normalise", load: load(runStage(tracer, traces)) },
  ];
}

/** Describes the request's span, or starts a span for a call that no request brought: inner calls, library, agent. */
function callStage(tracer: Tracer, traces: WeakMap<CallState, CallTrace>, options: CallStageOptions): Stage {
  const run = recordedCall(traces, options);
  return (state, next) => {
    const { call } = state;
    const request = tracer.find(call.meta);
    // A call that is not sampled passes without a promise of its own.
    if (!request && isUnsampled(call.meta)) return next(state);
    const isOwn = request !== undefined && isUndescribed(request, call);
    const span: Span = isOwn ? request : tracer.start(`execute ${call.method}`, "internal", call.meta);
    if (span.meta !== call.meta) state.meta = span.meta;
    if (!span.isRecording) return next(state);
    return run({ state, span: span as RecordedSpan, isOwn }, next);
  };
}

interface SampledCall {
  readonly state: CallState;
  readonly span: RecordedSpan;
  /** True if the span is that of the request, which ends later. */
  readonly isOwn: boolean;
}

function recordedCall(
  traces: WeakMap<CallState, CallTrace>,
  options: CallStageOptions,
): (call: SampledCall, next: Next) => Promise<Outcome> {
  return async ({ state, span, isOwn }, next) => {
    span.isDescribed = true;
    traces.set(state, { span, enteredAt: performance.now() });
    let outcome: Outcome | undefined;
    try {
      outcome = await next(state);
      return outcome;
    } finally {
      describe(state, span, options);
      const error = errorOf(outcome);
      if (outcome?.ok && options.hasResults) span.set("result", textOf(outcome.result));
      span.set("outcome", error ?? "ok");
      if (!isOwn) span.end(error);
    }
  };
}

/** Returns true if the request itself made the call and the request's span records no call yet. */
function isUndescribed({ isRequest, isDescribed }: RecordedSpan, { parent }: CallState["call"]): boolean {
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

function waitStage(name: StageName, tracer: Tracer, traces: WeakMap<CallState, CallTrace>): Stage {
  return (state, next) => {
    if (tracer.openSpans === 0) return next(state);
    const trace = traces.get(state);
    if (!trace) return next(state);
    endWait(name, tracer, trace);
    return next(state);
  };
}

/** Records the time between entering a stage and entering the next one, if the stage waited. */
function endWait(name: StageName, tracer: Tracer, trace: CallTrace): void {
  const now = performance.now();
  if (now - trace.enteredAt >= MIN_WAIT_MS) {
    const wait = tracer.recordFrom(`wait ${name}`, trace.enteredAt, trace.span);
    wait.set("stage", name);
    wait.end();
  }
  trace.enteredAt = now;
}

/** Tool of the hub that runs code in the sandbox. */
const SANDBOX_TOOL = "execute_code";

/** Returns the name of the span of a run on this machine. Requests to servers have client spans instead. */
function runName({ found: { provider, target } }: CallState): string | undefined {
  const { kind } = provider.source;
  if (factsOf(kind).oneServer) return undefined;
  const isSandbox = isHubItself(provider.source) && target.type === "tool" && target.tool.name === SANDBOX_TOOL;
  return isSandbox ? "run sandbox" : `run ${kind}`;
}

function runStage(tracer: Tracer, traces: WeakMap<CallState, CallTrace>): Stage {
  return (state, next) => {
    const trace = tracer.openSpans === 0 ? undefined : traces.get(state);
    return trace ? recordedRun(state, next, { tracer, trace }) : next(state);
  };
}

async function recordedRun(
  state: CallState,
  next: Next,
  { tracer, trace }: { readonly tracer: Tracer; readonly trace: CallTrace },
): Promise<Outcome> {
  // The retry of a call waits in `guard`.
  if (state.attempts > 0) endWait("guard", tracer, trace);
  const name = runName(state);
  const span = name === undefined ? undefined : tracer.start(name, "internal", trace.span.meta);
  if (span) {
    span.set("source", state.found.provider.source.id);
    state.meta = span.meta;
  }
  let outcome: Outcome | undefined;
  try {
    outcome = await next(state);
    return outcome;
  } finally {
    trace.enteredAt = performance.now();
    span?.end(errorOf(outcome));
  }
}

function textOf(value: unknown): string {
  return firstChars(stringifyValue(value), MAX_VALUE_CHARS);
}
