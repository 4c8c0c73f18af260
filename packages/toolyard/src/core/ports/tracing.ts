import type { JsonObject } from "../json/json.ts";
import { serviceKey } from "../service-key.ts";
import { TRACEPARENT } from "../trace-context.ts";

/** Kinds of spans: a request that the hub receives, a request that it sends, or work inside the hub. */
export type SpanKind = "server" | "client" | "internal";

/** Names of span attributes. `telemetry/otlp/names.ts` has their names on the wire. */
export type SpanFact =
  | "method"
  | "tool"
  | "prompt"
  | "resource"
  | "operation"
  | "requestId"
  | "protocolVersion"
  | "transport"
  | "protocol"
  | "source"
  | "sourceKind"
  | "endpoint"
  | "outcome"
  | "errorType"
  | "rpcCode"
  | "attempts"
  | "arguments"
  | "result"
  | "stage"
  | "httpMethod"
  | "httpRoute"
  | "httpStatus"
  | "model"
  | "provider"
  | "inputTokens"
  | "outputTokens"
  | "finishReason"
  | "agentStep"
  | "stopReason"
  | "storeSystem"
  | "storeOperation";

/** A span. Its methods do nothing after `end`. */
export interface Span {
  /** `_meta` for the work inside the span, with the span's trace context. */
  readonly meta: JsonObject;
  /** False if the trace is not sampled. Only `meta` is then used. */
  readonly isRecording: boolean;
  set(fact: SpanFact, value: string | number): void;
  rename(name: string): void;
  /** Ends the span. `error` is a short code, without values of the caller. */
  end(error?: string): void;
}

/** Traces of a hub. A method that starts a span returns `undefined` if the trace is not sampled. */
export interface Tracing {
  /** Starts the span of a request to the hub. The sampler decides about it. */
  startRequest(name: string, meta: JsonObject): Span | undefined;
  /**
   * Starts a span. The context in `meta` is its parent and has the decision of the sampler; without a context, the
   * sampler decides about a new trace.
   */
  start(name: string, kind: SpanKind, meta: JsonObject): Span | undefined;
}

/** Starts a span for work that is recorded only as a part of a trace. Returns `undefined` without a context. */
export function startWithin(
  tracing: Tracing | undefined,
  { name, kind }: { readonly name: string; readonly kind: SpanKind },
  meta: JsonObject | undefined,
): Span | undefined {
  return meta?.[TRACEPARENT] === undefined ? undefined : tracing?.start(name, kind, meta);
}

/** Traces of the hub. `undefined` if the configuration requests no traces: parts then run without any tracing code. */
export const TRACING = serviceKey<Tracing | undefined>()("tracing");
