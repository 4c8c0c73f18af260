import { Late } from "../../core/late.ts";
import type { HttpExchange } from "../../http/exchange.ts";
import type { Endpoint, SharedPage } from "../../endpoints/endpoint.ts";
import type { HomePages, HomeParts } from "./home-pages.ts";

/**
 * Serves `GET /` if no other endpoint has this path. A browser gets a page that shows how to connect clients and, if
 * the caller may see it, the state of the sources. A program that accepts any media type, such as curl, gets a few
 * lines of text. Both are loaded by the first request.
 */
export class HomeEndpoint implements Endpoint {
  readonly pages: readonly SharedPage[] = [
    { path: "/", wants: wantsHome, serve: async (exchange) => (await this.#late.get()).serve(exchange) },
  ];
  readonly #late: Late<HomePages>;

  constructor(parts: HomeParts) {
    this.#late = new Late(async () => new (await import("./home-pages.ts")).HomePages(parts));
  }

  mount(): void {}

  giveUp(): void {}

  close(): void {}
}

// Clients of MCP and JSON-RPC list the media types of their protocol in `Accept`; they do not get the page.
function wantsHome(exchange: HttpExchange): boolean {
  if (exchange.method !== "GET" || exchange.path.replace(/(?<!\/)\/+$/, "") !== "") return false;
  if (exchange.header("mcp-session-id") !== undefined || exchange.query.has("uri")) return false;
  const accept = exchange.header("accept") ?? "";
  return !/text\/event-stream|application\/json/i.test(accept) && /^\s*$|text\/|\*\/\*/i.test(accept);
}
