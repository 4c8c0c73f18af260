import type { Door, DoorFront } from "../../endpoints/door.ts";
import { Home } from "../../endpoints/home/home.ts";
import { resolveJsonRpcDoor } from "../../endpoints/jsonrpc/options.ts";
import { McpDoor } from "../../endpoints/mcp/mcp-door.ts";
import { resolveRest } from "../../endpoints/rest/options.ts";
import { isLoopbackHost } from "../../core/uris/loopback.ts";
import type { Listener, ListenerAddress, Mountable, PortListener } from "../../http/listening/listener.ts";
import { createListener } from "../../http/adapters/node/listener.ts";
import { createTokenAuthenticator } from "../../http/request/tokens.ts";
import { resolveHttp, type HttpOptions } from "../../http/options.ts";
import type { Hub } from "../hub.ts";
import type { ServedCertificate } from "./certificate.ts";
import { wantedDoors, type DoorsConfig, type ServerConfig } from "./doors.ts";
import { createMcpParts } from "./mcp-parts.ts";

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
  /** Reads the certificate again; absent where the port is not encrypted. */
  readonly lookAtCertificate?: () => Promise<void>;
}

/** How long before the end of the grace time calls that still run are answered that they were given up. */
const LAST_WORDS_MS = 500;

/** Throws the `OptionError` that serving these options would end in, as far as that can be known without listening. */
export function assertServable(hub: Hub, server: ServerConfig): void {
  wantedDoors(configOf(hub, server));
  resolveHttp(server);
}

/** As `assertServable`, with the certificate looked at too. Rejects with the `OptionError`. */
export async function assertListenable(hub: Hub, server: ServerConfig): Promise<void> {
  assertServable(hub, server);
  const { tls } = resolveHttp(server);
  if (tls) (await import("../../http/tls/key-pair.ts")).readKeyPair(tls);
}

/** Mounts every HTTP door on one listener and listens. Rejects with an `OptionError` when it cannot. */
export async function serveHttp(hub: Hub, server: ServerConfig = {}): Promise<ServedHttp> {
  const http = resolveHttp(server);
  const listener = await listenerFor(http, hub);
  const certificate = await certificateFor(http, hub, listener);
  const { doors, address } = await openAll(hub, server, { http, listener, certificate }).catch(async (error) => {
    await certificate?.close();
    throw error;
  });
  const doorClosed = hub.doors.opened("http", http.tokens.length === 0 && !isLoopbackHost(http.host));
  const pagesClosed = openPages(hub, http, address);
  const rest = resolveRest(hub.config.tree.rest);
  const close = closerOf(listener, doors, { doorClosed, graceMs: http.limits.shutdownGraceMs });
  return {
    address,
    endpoint: `${address.url}/mcp`,
    ...(rest.enabled ? { rest: `${address.url}${rest.basePath}` } : {}),
    ...(certificate && { lookAtCertificate: () => certificate.look() }),
    done: new Promise(() => {}),
    close: async () => {
      pagesClosed();
      await certificate?.close();
      await close();
    },
  };
}

/** Browsers reach the hub where it is said that they do, or on this machine. */
export function openPages(
  { signIns }: Hub,
  { publicUrl, host }: HttpOptions,
  address?: Pick<ListenerAddress, "url">,
): () => void {
  const url = publicUrl ?? (isLoopbackHost(host) ? address?.url : undefined);
  return url === undefined ? () => {} : signIns.opened(url);
}

interface ListenPlace extends MountPlace {
  readonly listener: PortListener;
}

async function openAll(
  hub: Hub,
  server: ServerConfig,
  place: ListenPlace,
): Promise<{ readonly doors: Omit<Door, "mount">; readonly address: ListenerAddress }> {
  const doors = await openDoors(hub, server, place);
  try {
    return { doors, address: await place.listener.listen() };
  } catch (error) {
    doors.close();
    throw error;
  }
}

export interface MountPlace {
  readonly http: HttpOptions;
  readonly listener: Mountable;
  readonly certificate?: ServedCertificate | undefined;
}

/**
 * Opens every HTTP door that `[server]` and the other sections ask for. Whoever made the listener closes both, the
 * listener first.
 */
export async function openDoors(
  hub: Hub,
  server: ServerConfig,
  { http, listener, certificate }: MountPlace,
): Promise<Omit<Door, "mount">> {
  const wanted = wantedDoors(configOf(hub, server));
  const front = {
    ...frontOf(hub, server, http),
    ...(certificate && { tls: () => certificate.report() }),
  };
  const doors = await Promise.all(wanted.map((open) => open(front)));
  // Where JSON-RPC is on, its door has the page: they share the path.
  if (!resolveJsonRpcDoor(server).enabled) {
    const { HomeDoor } = await import("../../endpoints/home/home-door.ts");
    doors.push(new HomeDoor(front.home));
  }
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
    dialects: async () => (await import("./dialects.ts")).createDialects(hub),
    signIns: hub.signIns,
    home: new Home({
      hub,
      signIns: hub.signIns,
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
async function listenerFor(http: HttpOptions, hub: Hub): Promise<PortListener> {
  const authenticator = createTokenAuthenticator(http);
  if (http.workers === 1) return createListener(http, hub.logger, authenticator);
  const { createWorkerPool } = await import("../../http/adapters/workers/pool.ts");
  return createWorkerPool(http, hub.logger, authenticator);
}

/** What encrypts is loaded when something is to be encrypted. */
async function certificateFor(
  { tls }: HttpOptions,
  { logger }: Hub,
  listener: PortListener,
): Promise<ServedCertificate | undefined> {
  if (!tls) return undefined;
  const { ServedCertificate: Certificate } = await import("./certificate.ts");
  return Certificate.open(tls, { logger, use: (pair) => listener.certify(pair) });
}
