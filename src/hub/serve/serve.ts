import type { Readable } from "node:stream";
import { isLoopbackHost } from "../../core/loopback.ts";
import { resolveJsonRpcDoor, type JsonRpcDoorConfig } from "../../doors/jsonrpc/options.ts";
import { resolveMcpDoor, type McpDoorConfig } from "../../doors/mcp/options.ts";
import { LegacyHttp } from "../../doors/mcp/legacy/http.ts";
import { resolveLegacySessions } from "../../doors/mcp/legacy/options.ts";
import { createSessionDeps } from "../../doors/mcp/legacy/session-deps.ts";
import type { SessionDeps } from "../../doors/mcp/legacy/session.ts";
import { LegacySse } from "../../doors/mcp/legacy/sse.ts";
import { mountMcp, type McpHttpParts } from "../../doors/mcp/http-door.ts";
import { ModernEndpoint } from "../../doors/mcp/modern/endpoint.ts";
import { mountSse } from "../../doors/mcp/sse-door.ts";
import { StdioDoor } from "../../doors/mcp/stdio-door.ts";
import type { GuardedStdout } from "../../process/stdout-guard.ts";
import { mountStatus } from "../../doors/status/status-door.ts";
import type { Listener, ListenerAddress } from "../../http/listener.ts";
import { createListener } from "../../http/node/listener.ts";
import { resolveHttp, type HttpConfig, type HttpOptions } from "../../http/options.ts";
import type { RestOptions } from "../../doors/rest/options.ts";
import { VERSION } from "../../core/version.ts";
import type { FirstCaller } from "./first-caller.ts";
import type { Hub } from "../hub.ts";
import type { ServerConfig } from "../schema.ts";
import { createDialects, mountBoth, mountJsonRpc } from "./json-rpc.ts";
import { mountRest, restOf } from "./rest.ts";

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

interface McpParts {
  readonly modern: ModernEndpoint;
  readonly session: SessionDeps;
  close(): void;
}

/** How long before the end of the grace time calls that still run are answered that they were given up. */
const LAST_WORDS_MS = 500;

/** Throws the `OptionError` that serving these options would end in, as far as that can be known without listening. */
export function assertServable(hub: Hub, server: ServerConfig): void {
  restOf(hub);
  resolveHttp(server as HttpConfig);
  resolveMcpDoor(server as McpDoorConfig);
  resolveLegacySessions(server.sessions);
}

/** Mounts every HTTP door on one listener and listens. Rejects with an `OptionError` when it cannot. */
export async function serveHttp(hub: Hub, server: ServerConfig = {}): Promise<ServedHttp> {
  const http = resolveHttp(server as HttpConfig);
  const listener = await listenerFor(http, hub);
  const doors = mountDoors(hub, server, { http, listener });
  const address = await listener.listen().catch((error: unknown) => {
    doors.close();
    throw error;
  });
  const doorClosed = hub.doorOpened("http", http.tokens.length === 0 && !isLoopbackHost(http.host));
  const { rest } = doors;
  return {
    address,
    endpoint: `${address.url}/mcp`,
    ...(rest.enabled ? { rest: `${address.url}${rest.basePath}` } : {}),
    done: new Promise(() => {}),
    close: closerOf(listener, doors, { doorClosed, graceMs: http.limits.shutdownGraceMs }),
  };
}

/** Everything that is mounted on one listener. */
export interface MountedDoors {
  readonly rest: RestOptions;
  /** Answers calls that still run that they were given up. */
  giveUp(): void;
  close(): void;
}

export interface MountPlace {
  readonly http: HttpOptions;
  readonly listener: Listener;
}

/** Mounts every HTTP door as `[server]` says. Whoever made the listener closes both, the listener first. */
export function mountDoors(hub: Hub, server: ServerConfig, { http, listener }: MountPlace): MountedDoors {
  const rest = restOf(hub);
  const mcp = mcpParts(hub, server, http.tokens.length > 0);
  const legacy = new LegacyHttp(mcp.session);
  const sse = new LegacySse(mcp.session);
  const mcpHttp: McpHttpParts = { modern: mcp.modern, legacy, defaultMode: mcp.session.defaultMode };
  const jsonRpc = resolveJsonRpcDoor(server as JsonRpcDoorConfig);
  const mount = { listener, mcp: mcpHttp, session: mcp.session };
  const dialectDoors = [
    ...(jsonRpc.enabled ? [mountJsonRpc(hub, mount)] : []),
    ...(jsonRpc.onMcpPath ? [mountBoth(hub, mount)] : []),
  ];
  const restDoor = rest.enabled
    ? mountRest(hub, {
        listener,
        options: rest,
        defaultMode: mcp.session.defaultMode,
        hasTokens: http.tokens.length > 0,
      })
    : undefined;
  if (!jsonRpc.onMcpPath) mountMcp(listener, mcpHttp);
  mountSse(listener, sse);
  mountStatus(listener, hub, { version: VERSION, startedAt: hub.startedAt }, (text) => hub.redact(text));
  const giveUp = (): void => {
    legacy.close();
    for (const door of dialectDoors) door.close();
    restDoor?.close();
  };
  return {
    rest,
    giveUp,
    close: () => {
      giveUp();
      sse.close();
      mcp.close();
    },
  };
}

/** Ends a listener and what is mounted on it, once. */
export function closerOf(
  listener: Listener,
  doors: MountedDoors,
  { doorClosed, graceMs }: { readonly doorClosed: () => void; readonly graceMs: number },
): () => Promise<void> {
  let closed: Promise<void> | undefined;
  const close = async (): Promise<void> => {
    doorClosed();
    // Calls that outlast the grace time are answered while their connections are still there.
    const lastWords = setTimeout(doors.giveUp, Math.max(0, graceMs - LAST_WORDS_MS));
    await listener.close();
    clearTimeout(lastWords);
    doors.close();
  };
  return () => (closed ??= close());
}

/** Workers are loaded when there are some. */
async function listenerFor(http: HttpOptions, hub: Hub): Promise<Listener> {
  if (http.workers === 1) return createListener(http, hub.logger);
  const { createWorkerPool } = await import("../../http/workers/pool.ts");
  return createWorkerPool(http, hub.logger);
}

/** A client's ends of the program, and who hears first how it speaks. */
export interface Pipe {
  readonly input: Readable;
  readonly output: GuardedStdout;
  readonly firstCaller?: FirstCaller;
}

/**
 * Serves MCP, and the JSON-RPC dialect behind it, on a pipe. The caller has taken over standard output already, so that
 * nothing else can write there.
 */
export function serveStdio(hub: Hub, server: ServerConfig, { input, output, firstCaller }: Pipe): Served {
  const mcp = mcpParts(hub, server, false);
  const { enabled } = resolveJsonRpcDoor(server as JsonRpcDoorConfig);
  const door = new StdioDoor({
    ...mcp.session,
    modern: mcp.modern,
    input,
    output: output.sink,
    onFirst: (era) => firstCaller?.spoke(era),
    ...(enabled ? { dialects: createDialects(hub) } : {}),
  });
  door.start();
  const doorClosed = hub.doorOpened("stdio");
  return {
    done: door.done,
    close: async (graceMs) => {
      doorClosed();
      await door.close(graceMs);
      mcp.close();
    },
  };
}

function mcpParts(hub: Hub, server: ServerConfig, hasTokens: boolean): McpParts {
  const door = resolveMcpDoor(server as McpDoorConfig);
  const paging = door.pageSize === undefined ? {} : { pageSize: door.pageSize };
  const modern = new ModernEndpoint({
    hub,
    logger: hub.logger,
    options: door.modern,
    ...paging,
    defaultMode: door.toolMode,
    hasTokens,
    state: hub.state,
  });
  const session = createSessionDeps({
    hub,
    logger: hub.logger,
    ...paging,
    options: resolveLegacySessions(server.sessions),
    defaultMode: door.toolMode,
    state: hub.state,
  });
  return {
    modern,
    session,
    close: () => {
      modern.close();
      session.board.close();
    },
  };
}
