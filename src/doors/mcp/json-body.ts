import { isUtf8 } from "node:buffer";
import type { HttpAnswer } from "../../http/answer.ts";
import { sendJson } from "../../http/send.ts";
import type { RpcErrorObject } from "../../core/outcome.ts";
import { isDeeperThan } from "../../wire/json-depth.ts";
import { rpcError, RPC, type RequestId } from "../../wire/messages.ts";

/** A JSON-RPC error with status 400, for what cannot be a request. */
export function sendError(answer: HttpAnswer, id: RequestId | null, { code, message, data }: RpcErrorObject): void {
  sendJson(answer, 400, JSON.stringify(rpcError(id, code, message, data)));
}

export type Parsed =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly code: number; readonly message: string };

/** A request body as JSON, or why it is none. */
export function parseBody(body: Buffer, maxDepth: number): Parsed {
  if (!isUtf8(body)) return { ok: false, code: RPC.parse, message: "Parse error: the request body is not UTF-8." };
  const text = body.toString("utf8");
  if (isDeeperThan(text, maxDepth))
    return {
      ok: false,
      code: RPC.invalidRequest,
      message: `Invalid Request: the body nests deeper than ${maxDepth} levels.`,
    };
  try {
    return { ok: true, value: JSON.parse(text) as unknown };
  } catch {
    return { ok: false, code: RPC.parse, message: "Parse error: the request body is not valid JSON." };
  }
}
