import { createFetchListener, type FetchHandler } from "../../http/adapters/fetch/listener.ts";
import { createTokenAuthenticator } from "../../http/request/tokens.ts";
import { resolveHttp } from "../../http/options.ts";
import type { Hub } from "../hub.ts";
import type { ServerConfig } from "./doors.ts";
import { closerOf, openDoors, openPages, type Served } from "./serve.ts";

export interface ServedFetch extends Served {
  /** Answers a standard `Request` to any of the hub's paths, `/mcp` first of all. */
  readonly fetch: FetchHandler;
}

/** Every HTTP door behind `fetch`, without a port. Rejects with an `OptionError` when `[server]` cannot be used. */
export async function serveFetch(hub: Hub, server: ServerConfig): Promise<ServedFetch> {
  const http = resolveHttp(server);
  const listener = createFetchListener(http, hub.logger, createTokenAuthenticator(http));
  const doors = await openDoors(hub, server, { http, listener });
  const doorClosed = hub.doors.opened("fetch");
  const pagesClosed = openPages(hub, http);
  const close = closerOf(listener, doors, { doorClosed, graceMs: http.limits.shutdownGraceMs });
  return {
    fetch: listener.fetch,
    done: new Promise(() => {}),
    close: () => {
      pagesClosed();
      return close();
    },
  };
}
