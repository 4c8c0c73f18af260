import { isJsonObject, type JsonObject } from "../core/json/json.ts";
import type { RpcErrorObject } from "../core/calls/outcome.ts";
import { replyMember } from "./reply-member.ts";

/**
 * Id of a JSON-RPC 2.0 request. MCP permits strings and numbers, including 0; an integer beyond 2^53 is a `bigint`. A
 * reply to a request with an unreadable id has the id `null`.
 */
export type RequestId = string | number | bigint;

export interface RpcRequest {
  readonly jsonrpc: "2.0";
  readonly id: RequestId;
  readonly method: string;
  readonly params?: JsonObject;
}

export interface RpcNotification {
  readonly jsonrpc: "2.0";
  readonly method: string;
  readonly params?: JsonObject;
}

export interface RpcResult {
  readonly jsonrpc: "2.0";
  readonly id: RequestId;
  readonly result: JsonObject;
}

export interface RpcError {
  readonly jsonrpc: "2.0";
  readonly id: RequestId | null;
  readonly error: RpcErrorObject;
}

export type RpcReply = RpcResult | RpcError;
export type RpcMessage = RpcRequest | RpcNotification | RpcReply;

export const RPC = {
  parse: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internal: -32603,
  /** Code in the legacy era. Since 2026-07-28 it is -32602. */
  resourceNotFound: -32002,
  /** Code in 2025-11-25: the user must open a URL before the call. */
  urlElicitationRequired: -32042,
  headerMismatch: -32020,
  missingClientCapability: -32021,
  unsupportedProtocolVersion: -32022,
} as const;

/** Returns true if a value can be the id of a request, or a progress token, which has the same types. */
export function isRequestId(value: unknown): value is RequestId {
  return (
    typeof value === "string" || typeof value === "bigint" || (typeof value === "number" && Number.isFinite(value))
  );
}

export type ClassifiedMessage =
  | { readonly type: "request"; readonly message: RpcRequest }
  | { readonly type: "notification"; readonly message: RpcNotification }
  | { readonly type: "reply"; readonly message: RpcReply }
  /** Not JSON-RPC. `id` is kept if it is readable, so that the sender gets a reply. */
  | { readonly type: "invalid"; readonly id: RequestId | null; readonly reason: string };

/**
 * Classifies a parsed JSON value as a JSON-RPC message. A returned reply has exactly one of `result` and `error`. A
 * returned call has no `params` if the sender wrote `null` or `[]`.
 */
export function classifyMessage(value: unknown): ClassifiedMessage {
  if (!isJsonObject(value)) return { type: "invalid", id: null, reason: "a message must be an object" };
  const id = isRequestId(value["id"]) ? value["id"] : null;
  if (value["jsonrpc"] !== "2.0") return { type: "invalid", id, reason: 'member `jsonrpc` must be "2.0"' };
  return hasMethod(value) ? classifyCall(value, id) : classifyReply(value, id);
}

/** Returns true if a value has a JSON-RPC version, valid or not. Other JSON is treated as a log line. */
export function claimsJsonRpc(value: unknown): boolean {
  return isJsonObject(value) && value["jsonrpc"] !== undefined && value["jsonrpc"] !== null;
}

/** Returns true for a request or a notification. Some serialisers write `"method": null` into replies. */
export function hasMethod({ method }: JsonObject): boolean {
  return method !== undefined && method !== null;
}

function classifyCall(value: JsonObject, id: RequestId | null): ClassifiedMessage {
  if (typeof value["method"] !== "string") return { type: "invalid", id, reason: "member `method` must be a string" };
  const { params } = value;
  if (params !== undefined && !isJsonObject(params)) {
    if (isEmptyParams(params)) return classifyCall(withoutParams(value), id);
    return { type: "invalid", id, reason: "member `params` must be an object" };
  }
  if (!("id" in value)) return { type: "notification", message: value as unknown as RpcNotification };
  if (id === null) return { type: "invalid", id, reason: "member `id` must be a string or a number" };
  return { type: "request", message: value as unknown as RpcRequest };
}

/** Returns true if `params` are empty: absent, `null`, or `[]`, which PHP writes for an empty map. */
export function isEmptyParams(params: unknown): boolean {
  return params === undefined || params === null || (Array.isArray(params) && params.length === 0);
}

function withoutParams(call: JsonObject): JsonObject {
  const { params: _, ...rest } = call;
  return rest;
}

function classifyReply(value: JsonObject, id: RequestId | null): ClassifiedMessage {
  if (id !== null && !("error" in value) && isJsonObject(value["result"]))
    return { type: "reply", message: value as unknown as RpcReply };
  const member = replyMember(value);
  const problem = replyProblem(value, member);
  if (problem !== undefined) return { type: "invalid", id, reason: problem };
  if (id === null) return replyWithoutId(value, member);
  if (member === "error")
    return {
      type: "reply",
      message: "result" in value ? { jsonrpc: "2.0", id, error: errorIn(value) } : (value as unknown as RpcReply),
    };
  return { type: "reply", message: { jsonrpc: "2.0", id, result: resultIn(value) ?? {} } };
}

/** Returns the problem of a reply's member, or `undefined`. */
function replyProblem(value: JsonObject, member: ReturnType<typeof replyMember>): string | undefined {
  if (member === "error") {
    const { error } = value;
    return isJsonObject(error) && isRpcErrorObject(error)
      ? undefined
      : "member `error` must be an object with a number `code` and a string `message`";
  }
  if (resultIn(value)) return undefined;
  return "a message needs a `method`, a `result` object or an `error` object";
}

/**
 * Classifies a reply without an id. Only an error may lack an id, because it then answers a message whose id was
 * unreadable.
 */
function replyWithoutId(value: JsonObject, member: ReturnType<typeof replyMember>): ClassifiedMessage {
  const hasNoId = value["id"] === undefined || value["id"] === null;
  if (member === "error" && hasNoId)
    return { type: "reply", message: { jsonrpc: "2.0", id: null, error: errorIn(value) } };
  return { type: "invalid", id: null, reason: "a reply needs the `id` of its request" };
}

/** Returns the result of a reply. PHP writes an empty one as `[]`, mostly in the reply to a subscription. */
function resultIn({ result }: JsonObject): JsonObject | undefined {
  if (Array.isArray(result) && result.length === 0) return {};
  return isJsonObject(result) ? result : undefined;
}

function errorIn(value: JsonObject): RpcErrorObject {
  return value["error"] as RpcErrorObject;
}

function isRpcErrorObject(value: JsonObject): boolean {
  return typeof value["code"] === "number" && typeof value["message"] === "string";
}

export function rpcResult(id: RequestId, result: JsonObject): RpcResult {
  return { jsonrpc: "2.0", id, result };
}

export function rpcError(id: RequestId | null, { code, message, data }: RpcErrorObject): RpcError {
  return { jsonrpc: "2.0", id, error: data === undefined ? { code, message } : { code, message, data } };
}
