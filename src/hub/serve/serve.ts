import type { Door, DoorFront } from "../../doors/door.ts";
import { Home } from "../../doors/home/home.ts";
import { HomeDoor } from "../../doors/home/home-door.ts";
import { resolveJsonRpcDoor } from "../../doors/jsonrpc/options.ts";
import { McpDoor } from "../../doors/mcp/mcp-door.ts";
import { resolveRest } from "../../doors/rest/options.ts";
import { isLoopbackHost } from "../../core/loopback.ts";
import type { Listener, ListenerAddress, Mountable } from "../../http/listener.ts";
import { createListener } from "../../http/node/listener.ts";
import { createTokenAuthenticator } from "../../http/tokens.ts";
import { resolveHttp, type HttpOptions } from "../../http/options.ts";
import type { Hub } from "../hub.ts";
import { wantedDoors, type DoorsConfig, type ServerConfig } from "./doors.ts";
import { createDialects, createMcpParts } from "./mcp-parts.ts";

export interface Served {
  /** Resolves when the door is over by itself: the client of a pipe went. Never for HTTP. */
  readonly done: Promise<void>;
  /**
   * Stops taking calls, lets those in flight end within the door's grace time (a pipe's may be given), ends streams and
   * sessions. Idempotent.
   */
  close(graceMs?: number): Promise<void>;
}

export interface ServedHttp extends Served {
  readonly address: ListenerAddress;
  /** The MCP endpoint. */
  readonly endpoint: string;
  /** Where tools are one POST away; absent while REST is off. */
  readonly rest?: string;
}

/** How long before the end of the grace time calls that still run are answered that they were given up. */
const LAST_WORDS_MS = 500;

/** Throws the `OptionError` that serving these options would end in, as far as that can be known without listening. */
export function assertServable(hub: Hub, server: ServerConfig): void {
  wantedDoors(configOf(hub, server));
  resolveHttp(server);
}

/** Mounts every HTTP door on one listener and listens. Rejects with an `OptionError` when it cannot. */
export async function serveHttp(hub: Hub, server: ServerConfig = {}): Promise<ServedHttp> {
  const http = resolveHttp(server);
  const listener = await listenerFor(http, hub);
  const doors = await openDoors(hub, server, { http, listener });
  const address = await listener.listen().catch((error: unknown) => {
    doors.close();
    throw error;
  });
  const doorClosed = hub.doors.opened("http", http.tokens.length === 0 && !isLoopbackHost(http.host));
  const rest = resolveRest(hub.config.tree.rest);
  return {
    address,
    endpoint: `${address.url}/mcp`,
    ...(rest.enabled ? { rest: `${address.url}${rest.basePath}` } : {}),
    done: new Promise(() => {}),
    close: closerOf(listener, doors, { doorClosed, graceMs: http.limits.shutdownGraceMs }),
  };
}

export interface MountPlace {
  readonly http: HttpOptions;
  readonly listener: Mountable;
}

/**
 * Opens every HTTP door that `[server]` and the other sections ask for. Whoever made the listener closes both, the
 * listener first.
 */
export async function openDoors(
  hub: Hub,
  server: ServerConfig,
  { http, listener }: MountPlace,
): Promise<Omit<Door, "mount">> {
  const wanted = wantedDoors(configOf(hub, server));
  const front = frontOf(hub, server, http);
  const doors = await Promise.all(wanted.map((open) => open(front)));
  // Where JSON-RPC is on, its door has the page: they share the path.
  if (!resolveJsonRpcDoor(server).enabled) doors.push(new HomeDoor(front.home));
  for (const door of doors) door.mount(listener);
  return {
    giveUp: () => {
      for (const door of doors) door.giveUp();
    },
    close: () => {
      for (const door of doors) door.close();
    },
  };
}

function frontOf(hub: Hub, server: ServerConfig, { tokens }: HttpOptions): DoorFront {
  const hasTokens = tokens.length > 0;
  const parts = createMcpParts(hub, server, hasTokens);
  const rest = resolveRest(hub.config.tree.rest);
  return {
    hub,
    logger: hub.logger,
    chat: () => (hub.chat.isConfigured ? hub.chat : undefined),
    hasTokens,
    defaultMode: parts.session.defaultMode,
    mcp: new McpDoor({ ...parts, ownsPath: !resolveJsonRpcDoor(server).onMcpPath }),
    dialects: createDialects(hub),
    home: new Home({
      hub,
      hasTokens,
      hasDocs: rest.enabled && rest.hasDescription,
      clients: async (endpoint) => (await import("./client-entries.ts")).clientEntries(endpoint, hasTokens),
    }),
  };
}

/** The configuration with the `[server]` that is to be served. */
function configOf(hub: Hub, server: ServerConfig): DoorsConfig {
  return { ...hub.config.tree, server };
}

/** Ends a listener and what is mounted on it, once. */
export function closerOf(
  listener: Listener,
  doors: Omit<Door, "mount">,
  { doorClosed, graceMs }: { readonly doorClosed: () => void; readonly graceMs: number },
): () => Promise<void> {
  let closed: Promise<void> | undefined;
  const close = async (): Promise<void> => {
    doorClosed();
    // Calls that outlast the grace time are answered while their connections are still there.
    const lastWords = setTimeout(() => doors.giveUp(), Math.max(0, graceMs - LAST_WORDS_MS));
    await listener.close();
    clearTimeout(lastWords);
    doors.close();
  };
  return () => (closed ??= close());
}

/** Workers are loaded when there are some. */
async function listenerFor(http: HttpOptions, hub: Hub): Promise<Listener> {
  const authenticator = createTokenAuthenticator(http);
  if (http.workers === 1) return createListener(http, hub.logger, authenticator);
  const { createWorkerPool } = await import("../../http/workers/pool.ts");
  return createWorkerPool(http, hub.logger, authenticator);
}
