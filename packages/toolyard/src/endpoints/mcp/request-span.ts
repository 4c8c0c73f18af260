import { firstChars } from "../../core/text/truncate.ts";
import { isJsonObject, objectMember, stringMember, type JsonObject } from "../../core/json/json.ts";
import type { SharedFacts, Span, Tracing } from "../../core/ports/tracing.ts";
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
export function startRequestSpan(
  tracing: Tracing,
  { id, method, params }: TracedRequest,
  place: RequestPlace,
): Span | undefined {
  const span = tracing.startRequest({
    name: method,
    meta: (params && objectMember(params, "_meta")) ?? NO_META,
    place: placeFacts(place),
  });
  if (id !== undefined && span?.isRecording === true) span.set("requestId", typeof id === "bigint" ? String(id) : id);
  return span;
}

const NO_META: JsonObject = Object.freeze({});

/** Facts by endpoint and revision. The hub knows only a few of both. */
const PLACES = new Map<string, Map<string | undefined, SharedFacts>>();

function placeFacts({ endpoint, revision }: RequestPlace): SharedFacts {
  let places = PLACES.get(endpoint);
  if (!places) PLACES.set(endpoint, (places = new Map()));
  let facts = places.get(revision);
  if (!facts) places.set(revision, (facts = newPlaceFacts(endpoint, revision)));
  return facts;
}

function newPlaceFacts(endpoint: string, protocolVersion: string | undefined): SharedFacts {
  const isPipe = endpoint.includes("stdio");
  return {
    values: {
      endpoint,
      transport: isPipe ? "pipe" : "tcp",
      ...(!isPipe && { protocol: "http" }),
      ...(protocolVersion !== undefined && { protocolVersion }),
    },
  };
}

/** Ends the span according to the answer. `undefined`: the request was cancelled. */
export function endRequestSpan(span: Span, request: TracedRequest, answer: McpAnswer | undefined): void {
  if (!span.isRecording) return span.end();
  if (!span.isDescribed) describe(span, request);
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

/** Sets the facts of a request that made no call. */
function describe(span: Span, { method: given, params = {} }: TracedRequest): void {
  const method = firstChars(given, MAX_METHOD_CHARS);
  span.rename(method);
  span.set("method", method);
  const name = stringMember(params, "name");
  if (name !== undefined && given === "tools/call") span.set("tool", name);
}

/** Callers choose the method, so its length is limited. */
const MAX_METHOD_CHARS = 100;
