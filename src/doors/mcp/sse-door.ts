import type { HttpExchange } from "../../http/exchange.ts";
import { assertOwnPage } from "../../http/own-page.ts";
import type { Mountable } from "../../http/listener.ts";
import { refuseBody } from "./json-errors.ts";
import type { LegacyExchange } from "./legacy/exchange.ts";
import { MESSAGES_PATH, SSE_PATH } from "../paths.ts";
import { toolModeOfRequest } from "../tool-mode.ts";

/** What answers the two. */
export interface SseFace {
  openSse(exchange: LegacyExchange): void | Promise<void>;
  postSse(exchange: LegacyExchange, body: unknown): void | Promise<void>;
}

/** Mounts HTTP+SSE of 2024-11-05: `GET /sse` and `POST /messages`. Whoever made `face` closes it. */
export function mountSse(listener: Mountable, face: SseFace): void {
  listener.route({ methods: ["GET"], path: SSE_PATH }, (exchange) => {
    assertOwnPage(exchange);
    return face.openSse(exchangeOf(exchange));
  });
  listener.route({ methods: ["POST"], path: MESSAGES_PATH }, (exchange) => post(face, exchangeOf(exchange)));
}

async function post(face: SseFace, exchange: LegacyExchange): Promise<void> {
  const { http } = exchange;
  const parsed = http.parseJson(await http.readBody());
  if (parsed.ok) return face.postSse(exchange, parsed.value);
  refuseBody(http.answer, parsed);
}

function exchangeOf(http: HttpExchange): LegacyExchange {
  const mode = toolModeOfRequest(http);
  return { http, ...(mode && { mode }) };
}
