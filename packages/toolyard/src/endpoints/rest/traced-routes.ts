import type { Tracing } from "../../core/ports/tracing.ts";
import { contextOfHeaders } from "../../core/trace-context.ts";
import type { Mountable } from "../../http/listening/listener.ts";

/** Returns a listener whose routes record one server span for each request. */
export function tracedRoutes(listener: Mountable, tracing: Tracing): Mountable {
  return {
    route: (place, handler, refusalBody) =>
      listener.route(
        place,
        async (exchange) => {
          const { method, answer } = exchange;
          const span = tracing.start(`${method} ${place.path}`, "server", contextOfHeaders(exchange) ?? {});
          exchange.context = span.meta;
          if (!span.isRecording) return handler(exchange);
          span.set("httpMethod", method);
          span.set("httpRoute", place.path);
          span.set("endpoint", "rest");
          let error: string | undefined = "internal";
          try {
            await handler(exchange);
            error = undefined;
          } finally {
            if (answer.isBegun) span.set("httpStatus", answer.status);
            span.end(answer.isBegun && answer.status >= 500 ? String(answer.status) : error);
          }
        },
        refusalBody,
      ),
  };
}
