import type { Principal } from "../../core/calls/call.ts";
import { isJsonObject, type JsonObject } from "../../core/json/json.ts";
import type { Chat, ChatReply } from "../../core/ports/chat.ts";
import { fail, type Fail } from "../../core/calls/outcome.ts";
import { contextOfHeaders } from "../../core/trace-context.ts";
import { Refusal } from "../../http/answer/refusal.ts";
import type { RestExchange } from "./rest-exchange.ts";

/** Body of `POST /api/chat`. The reply of the agent contains the `history` to send with the next message. */
export interface ChatBody {
  readonly message: string;
  readonly history?: readonly JsonObject[];
  readonly maxIterations?: number;
}

/** A chat request with the caller whose rights the agent has. */
export interface ChatCallerRequest extends ChatBody {
  readonly principal: Principal;
}

type ChatAnswer = { readonly ok: true; readonly reply: ChatReply };

/** Runs the agent. Callers that accept events get them as they occur. */
export async function runChat(
  chat: Chat | undefined,
  request: ChatCallerRequest,
  exchange: RestExchange,
): Promise<ChatAnswer | Fail> {
  if (!chat) return NO_AGENT;
  const onEvent = ({ type, ...event }: { readonly type: string }): void => exchange.event(type, event);
  const reply = await chat.reply({
    ...request,
    signal: exchange.signal,
    meta: exchange.http.requestSpan?.meta ?? contextOfHeaders(exchange.http),
    ...(exchange.takesEvents ? { onEvent } : {}),
  });
  return { ok: true, reply };
}

export const NO_AGENT = fail(
  "unavailable",
  "No agent is available: no language model is configured. Set `language` in [models] of this hub.",
  { retryable: false },
);

/** Reads the body of a chat request. Throws a `Refusal` with status 400 that names the error. */
export function readChat({ message, history, max_iterations: snake, maxIterations = snake }: JsonObject): ChatBody {
  if (typeof message !== "string" || message.trim() === "")
    throw new Refusal(400, "`message` must be a text that is not empty.");
  if (history !== undefined && !isHistory(history))
    throw new Refusal(400, "`history` must be the `history` of the previous reply.");
  const isCount = typeof maxIterations === "number" && Number.isInteger(maxIterations) && maxIterations > 0;
  if (maxIterations !== undefined && !isCount)
    throw new Refusal(400, "`max_iterations` must be a whole number above 0.");
  return { message, ...(history === undefined ? {} : { history }), ...(isCount ? { maxIterations } : {}) };
}

function isHistory(value: unknown): value is readonly JsonObject[] {
  return Array.isArray(value) && value.every(isJsonObject);
}
