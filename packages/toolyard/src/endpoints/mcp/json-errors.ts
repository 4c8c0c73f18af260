import { stringifyExact } from "../../core/json/exact-json.ts";
import type { HttpAnswer } from "../../http/answer/answer.ts";
import type { JsonBody } from "../../http/exchange.ts";
import { sendJson } from "../../http/answer/send.ts";
import type { RpcErrorObject } from "../../core/calls/outcome.ts";
import { rpcError, RPC, type RequestId } from "../../wire/messages.ts";

/** Sends a JSON-RPC error with status 400, for bodies that cannot be a request. */
export function sendError(answer: HttpAnswer, id: RequestId | null, error: RpcErrorObject): void {
  sendJson(answer, 400, stringifyExact(rpcError(id, error)));
}

/** Answers a request with a malformed or too large body. */
export function refuseBody(answer: HttpAnswer, { fault, words }: JsonBody & { readonly ok: false }): void {
  if (fault === "bounds")
    sendError(answer, null, { code: RPC.invalidRequest, message: `Invalid Request: the body ${words}.` });
  else sendError(answer, null, { code: RPC.parse, message: `Parse error: the request body ${words}.` });
}
