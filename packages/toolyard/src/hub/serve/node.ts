import { HandlerListener, type NodeRequestHandler } from "../../http/adapters/node/handler.ts";
import type { Hub } from "../hub.ts";
import type { ServerConfig } from "./endpoints.ts";
import { assertServable, closerOf, openDoors, type Served } from "./serve.ts";

/** A request handler for Node's servers and frameworks, which can be closed. */
export interface NodeHandler extends NodeRequestHandler {
  /** Stops taking requests, lets those in flight end within the grace time. Closing the hub does so, too. */
  readonly close: () => Promise<void>;
}

/** Every HTTP door behind a function. Throws an `OptionError` when `[server]` cannot be used. */
export function nodeHandler(
  hub: Hub,
  server: ServerConfig,
): { readonly handler: NodeHandler; readonly served: Served } {
  const { http, access } = assertServable(hub, server);
  const listener = new HandlerListener(http, hub.logger, access.authenticator);
  const opening = openDoors(hub, server, { access, listener });
  listener.waitFor(opening);
  const doorClosed = hub.doors.opened("node");
  const close = async (): Promise<void> => {
    const doors = await opening.catch(() => NO_DOORS);
    await closerOf(listener, doors, { doorClosed, graceMs: http.limits.shutdownGraceMs })();
  };
  let closed: Promise<void> | undefined;
  const once = (): Promise<void> => (closed ??= close());
  return {
    handler: Object.assign(listener.handle.bind(listener), { close: once }),
    served: { done: new Promise(() => {}), close: once },
  };
}

const NO_DOORS = { giveUp: () => {}, close: () => {} };
