import { stringifyExact } from "../../../core/json/exact-json.ts";
import { isJsonObject } from "../../../core/json/json.ts";
import type { RpcErrorObject } from "../../../core/calls/outcome.ts";
import {
  classifyMessage,
  hasMethod,
  rpcError,
  RPC,
  type RequestId,
  type RpcNotification,
  type RpcRequest,
} from "../../../wire/messages.ts";
import { replyText, splicedReply, type McpAnswer } from "../answers.ts";
import type { DialectAnswer } from "../../dialect.ts";
import type { Outlet, ReplyError } from "./outlet.ts";
import type { MessageContext } from "./session-start.ts";

export function reply(outlet: Outlet, id: RequestId | null, answer: McpAnswer): void {
  const spliced = answer.type === "list" && outlet.replySpliced && splicedReply(id, answer);
  if (spliced) return outlet.replySpliced!(spliced);
  const text = replyText(id, answer);
  if (text !== undefined) outlet.reply(text, answer.type === "error" ? replyErrorOf(answer) : undefined);
}

function replyErrorOf({ error, kind, requiredScopes }: DialectAnswer & { readonly type: "error" }): ReplyError {
  return { code: error.code, ...(kind && { kind }), ...(requiredScopes && { requiredScopes }) };
}

export function replyError(outlet: Outlet, id: RequestId | null, error: RpcErrorObject): void {
  outlet.reply(stringifyExact(rpcError(id, error)), { code: error.code });
}

export function refuseInvalid(
  value: unknown,
  { id, reason }: { readonly id: RequestId | null; readonly reason: string },
  { outlet, dialects }: MessageContext,
): void {
  const words = dialects?.[0]?.describeInvalid(value) ?? `Invalid Request: ${reason}`;
  const answeredId = isAnswerable(value, dialects !== undefined) ? id : null;
  replyError(outlet, answeredId, { code: RPC.invalidRequest, message: words });
}

/**
 * Returns true if a client could match a reply to this value. A value that is not a request must not get a reply; with
 * other dialects, a `method` is required too.
 */
function isAnswerable(value: unknown, hasDialects: boolean): boolean {
  if (!isJsonObject(value)) return false;
  return hasMethod(value) || (hasDialects && !("result" in value || "error" in value));
}

/** Returns the requests in a posted body: one message, or a batch. */
export function requestsOf(body: unknown): readonly RpcRequest[] {
  return (Array.isArray(body) ? body : [body]).flatMap((message) => {
    const classified = classifyMessage(message);
    return classified.type === "request" ? [classified.message] : [];
  });
}

/** Returns a request with the id `null`, without its id. JSON-RPC allows this id and MCP does not. */
export function findNullIdRequest(value: unknown): RpcNotification | undefined {
  if (!isJsonObject(value) || value["id"] !== null) return undefined;
  const { id: _, ...rest } = value;
  const classified = classifyMessage(rest);
  return classified.type === "notification" ? classified.message : undefined;
}
