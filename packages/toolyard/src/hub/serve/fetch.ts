import { createFetchListener, type FetchHandler } from "../../http/adapters/fetch/listener.ts";
import type { Hub } from "../hub.ts";
import type { ServerConfig } from "./endpoints.ts";
import { closerOf, openEndpoints, openPages, servePlace, type ServedHub } from "./serve.ts";

export interface ServedFetch extends ServedHub {
  /** Answers a `Request` to any path of the hub, such as `/mcp`. */
  readonly fetch: FetchHandler;
}

/**
 * Opens all HTTP endpoints behind a `fetch` function, without a port. Rejects with an `OptionError` if `[server]` is
 * invalid.
 */
export async function serveFetch(hub: Hub, server: ServerConfig): Promise<ServedFetch> {
  const { http, access } = servePlace(hub, server);
  const listener = createFetchListener(http, hub.logger, access.authenticator);
  const endpoints = await openEndpoints(hub, server, { access, listener, publicUrl: http.publicUrl });
  const endpointClosed = hub.endpoints.opened("fetch");
  const pagesClosed = openPages(hub, http);
  const close = closerOf(listener, endpoints, { endpointClosed, graceMs: http.limits.shutdownGraceMs });
  return {
    fetch: listener.fetch,
    done: new Promise(() => {}),
    close: () => {
      pagesClosed();
      return close();
    },
  };
}
