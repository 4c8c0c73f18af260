import type { JsonObject } from "../../core/json/json.ts";
import type { Span, Tracing } from "../../core/ports/tracing.ts";
import { contextOfHeaders } from "../../core/trace-context.ts";
import type { HttpExchange } from "../../http/exchange.ts";
import type { Mountable } from "../../http/listening/listener.ts";
import type { Handler } from "../../http/router.ts";

/** Returns a listener whose routes record one server span for each request. */
export function tracedRoutes(listener: Mountable, tracing: Tracing): Mountable {
  return {
    route: (place, handler, refusalBody) =>
      listener.route(
        place,
        (exchange) => {
          const span = tracing.startRequest(place.path, contextOfHeaders(exchange) ?? NO_META);
          if (!span) return handler(exchange);
          exchange.context = span.meta;
          return span.isRecording ? recorded(handler, exchange, { span, route: place.path }) : handler(exchange);
        },
        refusalBody,
      ),
  };
}

const NO_META: JsonObject = Object.freeze({});

async function recorded(
  handler: Handler,
  exchange: HttpExchange,
  { span, route }: { readonly span: Span; readonly route: string },
): Promise<void> {
  const { method, answer } = exchange;
  span.rename(`${method} ${route}`);
  span.set("httpMethod", method);
  span.set("httpRoute", route);
  span.set("endpoint", "rest");
  let error: string | undefined = "internal";
  try {
    await handler(exchange);
    error = undefined;
  } finally {
    if (answer.isBegun) span.set("httpStatus", answer.status);
    span.end(answer.isBegun && answer.status >= 500 ? String(answer.status) : error);
  }
}
