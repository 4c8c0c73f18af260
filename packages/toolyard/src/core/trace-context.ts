import { isJsonObject, objectMember, withMember, type JsonObject } from "./json/json.ts";

/**
 * Keys of the trace context in `_meta` (SEP-414), with the format of the headers with the same names (W3C Trace
 * Context).
 */
export const TRACEPARENT = "traceparent";
export const TRACESTATE = "tracestate";

const FORMAT = /^(?!ff)[\da-f]{2}-(?!0{32})[\da-f]{32}-(?!0{16})[\da-f]{16}-[\da-f]{2}(?:-.*)?$/;
const VISIBLE = /^[\u0020-\u007E]{1,512}$/;

/** Looks up a request header by its name in lower case. */
interface TraceHeaderLookup {
  header(name: string): string | undefined;
}

/** Returns true for a text in the format of `traceparent`. Other texts must not become headers. */
export function isTraceparent(value: unknown): value is string {
  return typeof value === "string" && value.length <= 128 && FORMAT.test(value);
}

/** Returns the trace context of a request's headers in the form of `_meta`. Returns `undefined` without a valid one. */
export function contextOfHeaders(headers: TraceHeaderLookup): JsonObject | undefined {
  const traceparent = headers.header(TRACEPARENT);
  if (traceparent === undefined || !isTraceparent(traceparent)) return undefined;
  const tracestate = headers.header(TRACESTATE);
  return tracestate !== undefined && VISIBLE.test(tracestate)
    ? { [TRACEPARENT]: traceparent, [TRACESTATE]: tracestate }
    : { [TRACEPARENT]: traceparent };
}

/** Returns a parsed JSON-RPC body with the trace context of its HTTP request, if the request has one. */
export function bodyWithHeaderContext(body: unknown, headers: TraceHeaderLookup): unknown {
  const context = contextOfHeaders(headers);
  return context ? bodyWithContext(body, context) : body;
}

/** Returns a parsed JSON-RPC body whose requests have the context in `_meta`. A context in the body has precedence. */
export function bodyWithContext(body: unknown, context: JsonObject): unknown {
  if (Array.isArray(body)) return body.map((message) => bodyWithContext(message, context));
  if (!isJsonObject(body) || typeof body["method"] !== "string") return body;
  const params = body["params"] ?? {};
  if (!isJsonObject(params)) return body;
  const meta = objectMember(params, "_meta") ?? {};
  if (TRACEPARENT in meta) return body;
  return withMember(body, "params", withMember(params, "_meta", { ...meta, ...context }));
}

/** Returns the environment variables with which a program continues the trace of a call. */
export function variablesOfContext(meta: JsonObject): Readonly<Record<string, string>> {
  const { traceparent, tracestate } = headersOfContext({ _meta: meta }) ?? {};
  if (traceparent === undefined) return NO_VARIABLES;
  return { TRACEPARENT: traceparent, ...(tracestate !== undefined && { TRACESTATE: tracestate }) };
}

const NO_VARIABLES: Readonly<Record<string, string>> = Object.freeze({});

/** Returns the headers of a message whose `_meta` has a valid context. Returns `undefined` without one. */
export function headersOfContext(params: JsonObject | undefined): Readonly<Record<string, string>> | undefined {
  const meta = params?.["_meta"];
  if (!isJsonObject(meta)) return undefined;
  const { [TRACEPARENT]: traceparent, [TRACESTATE]: tracestate } = meta;
  if (!isTraceparent(traceparent)) return undefined;
  return typeof tracestate === "string" && VISIBLE.test(tracestate) ? { traceparent, tracestate } : { traceparent };
}
