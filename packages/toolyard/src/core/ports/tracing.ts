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

/**
 * Facts that many spans have, such as those of one tool. Create each set once and keep it: the exporter encodes a set
 * once, and a span only refers to it.
 */
export interface SharedFacts {
  /** Name of the spans. Absent: each span has a name of its own. */
  readonly name?: string;
  readonly values: Readonly<Partial<Record<SpanFact, string | number>>>;
}

/** A span. Its methods do nothing after `end`. */
export interface Span {
  /** `_meta` for the work inside the span, with the span's trace context. */
  readonly meta: JsonObject;
  /** False if the trace is not sampled. Only the context is then used. */
  readonly isRecording: boolean;
  /** True after `describe`. */
  readonly isDescribed: boolean;
  /** Returns `meta` with the span's trace context instead of its own. */
  contextIn(meta: JsonObject): JsonObject;
  /** Sets a fact. The span must not have the same fact in a set of shared facts. */
  set(fact: SpanFact, value: string | number): void;
  /** Sets the facts about the subject of the span. Facts of an earlier subject are replaced. */
  describe(subject: SharedFacts): void;
  rename(name: string): void;
  /** Ends the span. `error` is a short code, without values of the caller. */
  end(error?: string): void;
}

/** A request to the hub. */
export interface RequestStart {
  readonly name: string;
  /** `_meta` of the request. */
  readonly meta: JsonObject;
  /** Facts about the place at which the request arrived. */
  readonly place: SharedFacts;
}

/** Traces of a hub. A method that starts a span returns `undefined` if the trace is not sampled. */
export interface Tracing {
  /** Starts the span of a request to the hub. The sampler decides about it. */
  startRequest(request: RequestStart): Span | undefined;
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

/** Traces of the hubs of this process, by the interface that endpoints use. */
const BY_PORT = new WeakMap<object, Tracing>();

/** Makes the traces of a hub available to parts outside it, such as an agent. */
export function registerTracing(port: object, tracing: Tracing): void {
  BY_PORT.set(port, tracing);
}

/**
 * Returns the traces of the hub behind an interface for programs, which has a member `port`. Returns `undefined` if the
 * hub records none, or if the object is no hub in this process.
 */
export function tracingOf(hub: object): Tracing | undefined {
  const port: unknown = "port" in hub ? hub.port : undefined;
  return typeof port === "object" && port !== null ? BY_PORT.get(port) : undefined;
}
