import type { HttpExchange } from "../../http/exchange.ts";
import { assertOwnPage } from "../../http/own-page.ts";
import type { Mountable } from "../../http/listener.ts";
import { refuseBody } from "./json-errors.ts";
import type { LegacyExchange } from "./legacy/exchange.ts";
import type { LegacySse } from "./legacy/sse.ts";
import { toolModeOfRequest } from "../tool-mode.ts";

/** Mounts HTTP+SSE of 2024-11-05: `GET /sse` and `POST /messages`. Whoever made `sse` closes it. */
export function mountSse(listener: Mountable, sse: LegacySse): void {
  listener.route(["GET"], "/sse", (exchange) => {
    assertOwnPage(exchange);
    sse.open(exchangeOf(exchange));
  });
  listener.route(["POST"], sse.messagesPath, (exchange) => post(sse, exchangeOf(exchange)));
}

async function post(sse: LegacySse, exchange: LegacyExchange): Promise<void> {
  const { http } = exchange;
  const parsed = http.parseJson(await http.readBody());
  if (parsed.ok) return sse.post(exchange, parsed.value);
  refuseBody(http.answer, parsed);
}

function exchangeOf(http: HttpExchange): LegacyExchange {
  const mode = toolModeOfRequest(http);
  return { http, ...(mode && { mode }) };
}
