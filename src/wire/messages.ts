import { isJsonObject, type JsonObject } from "../core/json.ts";
import type { RpcErrorObject } from "../core/outcome.ts";

/**
 * JSON-RPC 2.0 as MCP uses it: ids are strings or numbers, 0 among them; `null` marks a reply to something unreadable.
 */
export type RequestId = string | number;

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
  /** Legacy era; -32602 since 2026-07-28. */
  resourceNotFound: -32002,
  /** 2025-11-25: the call needs a visit to a URL first. */
  urlElicitationRequired: -32042,
  headerMismatch: -32020,
  missingClientCapability: -32021,
  unsupportedProtocolVersion: -32022,
} as const;

function isRequestId(value: unknown): value is RequestId {
  return typeof value === "string" || (typeof value === "number" && Number.isFinite(value));
}

export type Classified =
  | { readonly type: "request"; readonly message: RpcRequest }
  | { readonly type: "notification"; readonly message: RpcNotification }
  | { readonly type: "reply"; readonly message: RpcReply }
  /** Not JSON-RPC; `id` is kept where it is readable, so that the sender can be told. */
  | { readonly type: "invalid"; readonly id: RequestId | null; readonly reason: string };

/** Tells what a parsed JSON value is as a JSON-RPC message. */
export function classifyMessage(value: unknown): Classified {
  if (!isJsonObject(value)) return { type: "invalid", id: null, reason: "a message must be an object" };
  const id = isRequestId(value["id"]) ? value["id"] : null;
  if (value["jsonrpc"] !== "2.0") return { type: "invalid", id, reason: 'member `jsonrpc` must be "2.0"' };
  if ("method" in value) return classifyCall(value, id);
  if (id === null) return replyWithoutId(value);
  if (isJsonObject(value["error"]) && isRpcErrorObject(value["error"]))
    return { type: "reply", message: value as unknown as RpcReply };
  if (isJsonObject(value["result"])) return { type: "reply", message: value as unknown as RpcReply };
  return { type: "invalid", id, reason: "a message needs a `method`, a `result` object or an `error` object" };
}

function classifyCall(value: JsonObject, id: RequestId | null): Classified {
  if (typeof value["method"] !== "string") return { type: "invalid", id, reason: "member `method` must be a string" };
  const params = value["params"];
  if (params !== undefined && !isJsonObject(params))
    return { type: "invalid", id, reason: "member `params` must be an object" };
  if (!("id" in value)) return { type: "notification", message: value as unknown as RpcNotification };
  if (id === null) return { type: "invalid", id, reason: "member `id` must be a string or a number" };
  return { type: "request", message: value as unknown as RpcRequest };
}

function replyWithoutId(value: JsonObject): Classified {
  const isError =
    isJsonObject(value["error"]) && isRpcErrorObject(value["error"]) && (value["id"] === null || !("id" in value));
  if (isError)
    return { type: "reply", message: { jsonrpc: "2.0", id: null, error: value["error"] as unknown as RpcErrorObject } };
  return { type: "invalid", id: null, reason: "a reply needs the `id` of its request" };
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
