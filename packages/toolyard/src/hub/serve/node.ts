import { HandlerListener, type NodeRequestHandler } from "../../http/adapters/node/handler.ts";
import type { Hub } from "../hub.ts";
import type { ServerConfig } from "./endpoints.ts";
import { assertServable, closerOf, openEndpoints, type ServedHub } from "./serve.ts";

/** Request handler for Node's servers and frameworks, which can be closed. */
export interface NodeHandler extends NodeRequestHandler {
  /** Refuses new requests and waits for running ones within the grace time. Closing the hub calls it. */
  readonly close: () => Promise<void>;
}

/** Opens all HTTP endpoints behind a handler function. Throws an `OptionError` if `[server]` is invalid. */
export function nodeHandler(
  hub: Hub,
  server: ServerConfig,
): { readonly handler: NodeHandler; readonly served: ServedHub } {
  const { http, access } = assertServable(hub, server);
  const listener = new HandlerListener(http, hub.logger, access.authenticator);
  const opening = openEndpoints(hub, server, { access, listener, publicUrl: http.publicUrl });
  listener.waitFor(opening);
  const endpointClosed = hub.endpoints.opened("node");
  const close = async (): Promise<void> => {
    const endpoints = await opening.catch(() => NO_ENDPOINTS);
    await closerOf(listener, endpoints, { endpointClosed, graceMs: http.limits.shutdownGraceMs })();
  };
  let closed: Promise<void> | undefined;
  const once = (): Promise<void> => (closed ??= close());
  return {
    handler: Object.assign(listener.handle.bind(listener), { close: once }),
    served: { done: new Promise(() => {}), close: once },
  };
}

const NO_ENDPOINTS = { giveUp: () => {}, close: () => {} };
