import { bodyWithContext } from "../../core/trace-context.ts";
import type { ToolNameStyle } from "../../core/calls/call.ts";
import type { HttpExchange } from "../../http/exchange.ts";
import { assertOwnPage } from "../../http/request/own-page.ts";
import type { Mountable } from "../../http/listening/listener.ts";
import { refuseBody } from "./json-errors.ts";
import type { LegacyExchange } from "./legacy/exchange.ts";
import { MESSAGES_PATH, SSE_PATH } from "../paths.ts";
import { withToolNames } from "../tool-names.ts";
import { readMcpHead } from "./http-head.ts";

/** Handlers of the two paths. */
export interface SseFace {
  openSse(exchange: LegacyExchange): void | Promise<void>;
  postSse(exchange: LegacyExchange, body: unknown): void | Promise<void>;
}

/** Mounts HTTP+SSE of 2024-11-05: `GET /sse` and `POST /messages`. The creator of `face` closes it. */
export function mountSse(listener: Mountable, face: SseFace, toolNames: ToolNameStyle = "mcp"): void {
  listener.route({ methods: ["GET"], path: SSE_PATH }, (exchange) => {
    assertOwnPage(exchange);
    return face.openSse(exchangeOf(exchange, toolNames));
  });
  listener.route({ methods: ["POST"], path: MESSAGES_PATH }, (exchange) => servePostedMessage(exchange, face));
}

/** Serves `POST /messages`. */
export async function servePostedMessage(http: HttpExchange, face: Pick<SseFace, "postSse">): Promise<void> {
  const exchange = exchangeOf(http);
  const parsed = http.parseJson(await http.readBody());
  if (!parsed.ok) return refuseBody(http.answer, parsed);
  const { context } = exchange.head;
  return face.postSse(exchange, context ? bodyWithContext(parsed.value, context) : parsed.value);
}

/**
 * Messages use the form of tool names that was selected when the stream was opened, because the hub chose the URL to
 * which they are posted.
 */
function exchangeOf(http: HttpExchange, toolNames: ToolNameStyle = "mcp"): LegacyExchange {
  const head = http.ofHead(readMcpHead);
  return { http, head, principal: withToolNames(http.principal, head.toolNames ?? toolNames) };
}
