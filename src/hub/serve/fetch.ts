import { createFetchListener, type FetchHandler } from "../../http/fetch/listener.ts";
import { resolveHttp, type HttpConfig } from "../../http/options.ts";
import type { Hub } from "../hub.ts";
import type { ServerConfig } from "../schema.ts";
import { closerOf, mountDoors, type Served } from "./serve.ts";

export interface ServedFetch extends Served {
  /** Answers a standard `Request` to any of the hub's paths, `/mcp` first of all. */
  readonly fetch: FetchHandler;
}

/** Every HTTP door behind `fetch`, without a port. Throws an `OptionError` when `[server]` cannot be used. */
export function serveFetch(hub: Hub, server: ServerConfig): ServedFetch {
  const http = resolveHttp(server as HttpConfig);
  const listener = createFetchListener(http, hub.logger);
  const doors = mountDoors(hub, server, { http, listener });
  const doorClosed = hub.doorOpened("fetch");
  return {
    fetch: listener.fetch,
    done: new Promise(() => {}),
    close: closerOf(listener, doors, { doorClosed, graceMs: http.limits.shutdownGraceMs }),
  };
}
