import { stringifyExact } from "../../core/json/exact-json.ts";
import type { HttpAnswer } from "../../http/answer/answer.ts";
import { sendJson } from "../../http/answer/send.ts";
import { StoreLostError } from "../../state/ports/store.ts";
import { rpcError, type RequestId } from "../../wire/messages.ts";
import { STORE_LOST } from "./hub-lost.ts";

/** Answers a request with 503 if its error is a loss of the store. Throws every other error. */
export function refuseStoreLost(error: unknown, answer: HttpAnswer, id: RequestId | null = null): void {
  if (!(error instanceof StoreLostError)) throw error;
  answer.setHeader("retry-after", "1");
  sendJson(answer, 503, stringifyExact(rpcError(id, STORE_LOST)));
}
