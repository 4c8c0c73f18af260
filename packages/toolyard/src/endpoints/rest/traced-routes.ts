import type { JsonObject } from "../../core/json/json.ts";
import type { SharedFacts, Span, Tracing } from "../../core/ports/tracing.ts";
import { contextOfHeaders } from "../../core/trace-context.ts";
import type { HttpExchange } from "../../http/exchange.ts";
import type { Mountable } from "../../http/listening/listener.ts";
import type { Handler } from "../../http/router.ts";

/** Returns a listener whose routes record one server span for each request. */
export function tracedRoutes(listener: Mountable, tracing: Tracing): Mountable {
  return {
    route: (place, handler, refusalBody) => {
      const { path } = place;
      const facts: SharedFacts = { values: { httpRoute: path, endpoint: "rest" } };
      listener.route(
        place,
        (exchange) => {
          const meta = contextOfHeaders(exchange) ?? NO_META;
          const span = tracing.startRequest({ name: `${exchange.method} ${path}`, meta, place: facts });
          if (!span) return handler(exchange);
          exchange.requestSpan = span;
          return span.isRecording ? recorded(handler, exchange, span) : handler(exchange);
        },
        refusalBody,
      );
    },
  };
}

const NO_META: JsonObject = Object.freeze({});

async function recorded(handler: Handler, exchange: HttpExchange, span: Span): Promise<void> {
  const { method, answer } = exchange;
  span.set("httpMethod", method);
  let error: string | undefined = "internal";
  try {
    await handler(exchange);
    error = undefined;
  } finally {
    if (answer.isBegun) span.set("httpStatus", answer.status);
    span.end(answer.isBegun && answer.status >= 500 ? String(answer.status) : error);
  }
}
