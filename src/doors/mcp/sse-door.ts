import type { IncomingMessage, ServerResponse } from "node:http";
import type { Listener } from "../../http/listener.ts";
import type { RequestContext } from "../../http/request-context.ts";
import { parseBody, sendError } from "./json-body.ts";
import type { LegacyExchange } from "./legacy/exchange.ts";
import type { LegacySse } from "./legacy/sse.ts";
import { toolModeOfRequest } from "./tool-mode.ts";

/** Mounts HTTP+SSE of 2024-11-05: `GET /sse` and `POST /messages`. Whoever made `sse` closes it. */
export function mountSse(listener: Listener, sse: LegacySse): void {
  listener.route(["GET"], "/sse", (request, response, context) => sse.open(exchangeOf(request, response, context)));
  listener.route(["POST"], sse.messagesPath, (request, response, context) =>
    post(sse, exchangeOf(request, response, context)),
  );
}

async function post(sse: LegacySse, exchange: LegacyExchange): Promise<void> {
  const { response, context } = exchange;
  const parsed = parseBody(await context.readBody(), context.maxJsonDepth);
  if (parsed.ok) return sse.post(exchange, parsed.value);
  sendError(response, null, parsed.code, parsed.message);
}

function exchangeOf(request: IncomingMessage, response: ServerResponse, context: RequestContext): LegacyExchange {
  const mode = toolModeOfRequest(request.headers, context.query);
  return { request, response, context, ...(mode && { mode }) };
}
