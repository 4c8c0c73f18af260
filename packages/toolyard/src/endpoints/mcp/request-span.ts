import type { Cancellation } from "../../core/calls/cancellation.ts";
import { firstChars } from "../../core/text/truncate.ts";
import { isJsonObject, objectMember, stringMember, withMember, type JsonObject } from "../../core/json/json.ts";
import type { Span, Tracing } from "../../core/ports/tracing.ts";
import type { RequestId } from "../../wire/messages.ts";
import type { McpAnswer } from "./answers.ts";

/** Request of a JSON-RPC connection, before it is answered. */
export interface TracedRequest {
  readonly id?: RequestId;
  readonly method: string;
  readonly params?: JsonObject;
}

/** Facts about the connection of a request. */
export interface RequestPlace {
  /** Name of the transport: `mcp-http`, `mcp-stdio`, … */
  readonly endpoint: string;
  readonly revision?: string;
}

/**
 * Starts the server span of one JSON-RPC request. The caller's context is its parent. Returns `undefined` if the trace
 * is not sampled.
 */
export function startRequestSpan(tracing: Tracing, request: TracedRequest, place: RequestPlace): Span | undefined {
  const { id, method, params } = request;
  const span = tracing.startRequest(method, (params && objectMember(params, "_meta")) ?? NO_META);
  if (span?.isRecording === true) describe(span, { id, method: spanName(method), params: params ?? {} }, place);
  return span;
}

const NO_META: JsonObject = Object.freeze({});

function describe(
  span: Span,
  { id, method, params }: { readonly id: RequestId | undefined; readonly method: string; readonly params: JsonObject },
  { endpoint, revision }: RequestPlace,
): void {
  span.rename(method);
  span.set("method", method);
  if (id !== undefined) span.set("requestId", typeof id === "bigint" ? String(id) : id);
  span.set("endpoint", endpoint);
  const isPipe = endpoint.includes("stdio");
  span.set("transport", isPipe ? "pipe" : "tcp");
  if (!isPipe) span.set("protocol", "http");
  if (revision !== undefined) span.set("protocolVersion", revision);
  const name = stringMember(params, "name");
  if (name !== undefined && method === "tools/call") span.set("tool", name);
}

/** Returns the request with the context of its span. */
export function withSpan<R extends TracedRequest>(request: R, span: Span): R {
  return { ...request, params: withMember(request.params ?? {}, "_meta", span.meta) };
}

/** Ends the span according to the answer. `undefined`: the request was cancelled. */
export function endRequestSpan(span: Span, answer: McpAnswer | undefined): void {
  if (!span.isRecording) return span.end();
  if (answer === undefined || answer.type === "silence") return span.end("cancelled");
  if (answer.type === "error") {
    const code = String(answer.error.code);
    span.set("rpcCode", code);
    if (answer.kind !== undefined) span.set("outcome", answer.kind);
    return span.end(code);
  }
  const isError = answer.type === "result" && isJsonObject(answer.result) && answer.result["isError"] === true;
  span.end(isError ? "tool_error" : undefined);
}

/** Runs a request and ends its span with the answer. */
export async function recordedAnswer(
  span: Span,
  cancellation: Cancellation,
  run: () => Promise<McpAnswer> | McpAnswer,
): Promise<McpAnswer> {
  let answer: McpAnswer | undefined;
  try {
    answer = await run();
    return answer;
  } finally {
    endRequestSpan(span, cancellation.aborted ? undefined : answer);
  }
}

const MAX_METHOD_CHARS = 100;

/** Callers choose the method, so its length is limited. */
function spanName(method: string): string {
  return firstChars(method, MAX_METHOD_CHARS);
}
