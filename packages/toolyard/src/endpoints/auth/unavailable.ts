import { textsFor } from "../../auth/builtin/pages/texts.ts";
import type { HttpExchange } from "../../http/exchange.ts";
import type { Handler } from "../../http/router.ts";
import { StoreLostError } from "../../state/ports/store.ts";
import { errorPage, formatPage, pageHeaders } from "./pages.ts";

/** Seconds after which a client may try again. The hub reconnects to the store within a second. */
const RETRY_S = 2;

/**
 * Returns a handler that answers 503 if the store of the sign-ins cannot be reached: with a page for browsers, and with
 * an error of OAuth for clients. A request that was answered before is not changed.
 */
export function orUnavailable(handle: Handler): Handler {
  return async (exchange) => {
    try {
      await handle(exchange);
    } catch (error) {
      if (!(error instanceof StoreLostError)) throw error;
      refuse(exchange);
    }
  };
}

function refuse(exchange: HttpExchange): void {
  const retry = ["retry-after", String(RETRY_S)];
  if (exchange.header("accept")?.includes("text/html")) {
    const texts = textsFor(exchange.header("accept-language"));
    const page = formatPage(errorPage(texts.unavailable, texts, 503), texts);
    return exchange.answer.send(503, [...Object.entries(pageHeaders()).flat(), ...retry], page);
  }
  const body = {
    error: "temporarily_unavailable",
    error_description: "The shared store cannot be reached. Try again later.",
  };
  const headers = ["content-type", "application/json", "cache-control", "no-store"];
  exchange.answer.send(503, [...headers, ...retry], JSON.stringify(body));
}
