import type { Access } from "../../core/access.ts";
import { isLoopbackHost } from "../../core/uris/loopback.ts";
import type { ServicesOf } from "../../core/service-key.ts";
import { ACCESS_PLAN, AUDIT, PROFILES, SIGN_INS } from "../../core/services.ts";
import type { Endpoint } from "../../endpoints/endpoint.ts";
import { mountEndpoints } from "../../endpoints/mount-endpoints.ts";
import { DIALECTS } from "../../endpoints/services.ts";
import { resolveRest } from "../../endpoints/rest/options.ts";
import {
  withRoute,
  type Listener,
  type ListenerAddress,
  type Mountable,
  type PortListener,
} from "../../http/listening/listener.ts";
import { createListener } from "../../http/adapters/node/listener.ts";
import { resolveHttp, type HttpOptions } from "../../http/options.ts";
import { sendJson, sendText } from "../../http/answer/send.ts";
import type { HttpExchange } from "../../http/exchange.ts";
import { ProfilePaths } from "../../http/profile-paths.ts";
import { Router } from "../../http/router.ts";
import { CREATE_ACCESS, type KernelServingKey } from "../../kernel/kernel-keys.ts";
import { getService } from "../../kernel/start-features.ts";
import { STATE } from "../../state/ports/store.ts";
import type { Hub } from "../hub.ts";
import { auditedAccess } from "./audited-access.ts";
import type { ServedCertificate } from "./certificate.ts";
import { openWanted, wantedEndpoints, type EndpointsConfig, type ServerConfig } from "./endpoints.ts";

export interface ServedHub {
  /** Resolves when the endpoint ends by itself: the client of a pipe has disconnected. Never resolves for HTTP. */
  readonly done: Promise<void>;
  /**
   * Refuses new calls, waits for running ones within the endpoint's grace time (`graceMs` for a pipe), and ends streams
   * and sessions. Idempotent.
   */
  close(graceMs?: number): Promise<void>;
}

export interface ServedHttp extends ServedHub {
  readonly address: ListenerAddress;
  /** URL of the MCP endpoint. */
  readonly endpoint: string;
  /** Base URL of the REST API. Absent if REST is disabled. */
  readonly rest?: string;
  /** Reads the certificate again. Absent if the port is not encrypted. */
  readonly checkCertificate?: () => Promise<void>;
}

/** Milliseconds before the end of the grace time at which running calls are answered as cancelled. */
const LATE_ANSWERS_MS = 500;

/**
 * Returns the options of an address without listening. Throws an `OptionError` if the hub cannot be served with them.
 */
export function assertServable(hub: Hub, server: ServerConfig): ServePlace {
  wantedEndpoints(hub.features, configOf(hub, server));
  return servePlace(hub, server);
}

/**
 * Mounts all HTTP endpoints on one listener and listens. Rejects with an `OptionError` if that fails. `beforeListen`
 * runs when all endpoints are open and only the port is missing.
 */
export async function serveHttp(
  hub: Hub,
  server: ServerConfig = {},
  beforeListen?: () => Promise<void>,
): Promise<ServedHttp> {
  const { http, access } = servePlace(hub, server);
  const { publicUrl } = http;
  const listener = await listenerFor({ http, access }, hub);
  const certificate = await certificateFor(http, hub, listener);
  const place = { access, listener, certificate, publicUrl, beforeListen };
  const { endpoints, address } = await openAll(hub, server, place).catch(async (error) => {
    await certificate?.close();
    throw error;
  });
  const endpointClosed = hub.endpoints.opened("http", !access.isGuarded && !isLoopbackHost(http.host));
  const pagesClosed = openPages(hub, http, address);
  const rest = resolveRest(hub.config.tree.rest);
  const close = closerOf(listener, endpoints, { endpointClosed, graceMs: http.limits.shutdownGraceMs });
  return {
    address,
    endpoint: `${address.url}/mcp`,
    ...(rest.enabled ? { rest: `${address.url}${rest.basePath}` } : {}),
    ...(certificate && { checkCertificate: () => certificate.check() }),
    done: new Promise(() => {}),
    close: async () => {
      pagesClosed();
      await certificate?.close();
      await close();
    },
  };
}

/** Registers the address for browsers: the configured public URL, otherwise an address of this machine. */
export function openPages(
  { services }: Hub,
  { publicUrl, host }: HttpOptions,
  address?: Pick<ListenerAddress, "url">,
): () => void {
  const url = publicUrl ?? (isLoopbackHost(host) ? address?.url : undefined);
  return url === undefined ? () => {} : getService(services, SIGN_INS).opened(url);
}

interface ListenPlace extends MountPlace {
  readonly listener: PortListener;
  readonly beforeListen: (() => Promise<void>) | undefined;
}

async function openAll(
  hub: Hub,
  server: ServerConfig,
  place: ListenPlace,
): Promise<{ readonly endpoints: ServedEndpoints; readonly address: ListenerAddress }> {
  const endpoints = await openEndpoints(hub, server, place);
  const { access, listener, publicUrl, beforeListen } = place;
  try {
    await beforeListen?.();
    const address = await listener.listen();
    if (publicUrl === undefined) access.opened?.({ baseUrl: address.url, isMount: endpoints.isMount });
    return { endpoints, address };
  } catch (error) {
    endpoints.close();
    throw error;
  }
}

export interface MountPlace {
  readonly access: Access;
  readonly listener: Mountable;
  readonly certificate?: ServedCertificate | undefined;
  readonly publicUrl?: string | undefined;
}

/** Open endpoints of one listener. */
export interface ServedEndpoints extends Omit<Endpoint, "mount"> {
  /** Returns true if requests at a path below the base path need credentials. */
  readonly isMount: (path: string) => boolean;
}

/** Opens all configured HTTP endpoints. The creator of the listener closes both, the listener first. */
export async function openEndpoints(
  hub: Hub,
  server: ServerConfig,
  { access, listener, certificate, publicUrl }: MountPlace,
): Promise<ServedEndpoints> {
  const wanted = wantedEndpoints(hub.features, configOf(hub, server));
  const endpoints = await openWanted(wanted, {
    ...hub.services,
    hub: hub.port,
    tools: hub.tools,
    access,
    tls: certificate && (() => certificate.report()),
    dialects: getService(hub.services, DIALECTS),
  } satisfies ServicesOf<KernelServingKey>);
  const mounts = new Router();
  const recorded = withRoute(listener, (path, handler, refusalBody) => {
    mounts.add(path, handler);
    listener.route(path, handler, refusalBody);
  });
  mountEndpoints(endpoints, recorded);
  mountDocuments(access, listener);
  // All names below `/mcp/` count as profiles, because callers must not find out which profiles exist.
  const profiles = new ProfilePaths();
  const isMount = (path: string): boolean => mounts.find(profiles.read(path).path)?.isOpen === false;
  if (publicUrl !== undefined) access.opened?.({ baseUrl: publicUrl, isMount });
  return {
    isMount,
    drain: () => {
      for (const endpoint of endpoints) endpoint.drain?.();
    },
    giveUp: () => {
      for (const endpoint of endpoints) endpoint.giveUp();
    },
    close: () => {
      for (const endpoint of endpoints) endpoint.close();
    },
  };
}

/** Mounts the metadata documents. Clients read them without credentials, also from pages of other origins. */
function mountDocuments({ documents }: Access, listener: Mountable): void {
  for (const { path, read, isTree = false } of documents) {
    const serve = ({ answer, path: requested }: HttpExchange): void => {
      const document = read(requested.slice(path.length).replace(/\/$/, ""));
      if (document) sendJson(answer, 200, JSON.stringify(document));
      else sendText(answer, 404, "Not Found");
    };
    for (const one of isTree ? [path, `${path}/*`] : [path])
      listener.route({ methods: ["GET"], path: one, isOpen: true, isShared: true }, serve);
  }
}

/** Returns the configuration with the `[server]` section that will be served. */
function configOf(hub: Hub, server: ServerConfig): EndpointsConfig {
  return { ...hub.config.tree, server };
}

/** Settings of one address at which the hub is served: `[server]` and its access. */
export interface ServePlace {
  readonly http: HttpOptions;
  readonly access: Access;
}

/**
 * Returns the resolved `[server]` options of an address, and its access control. Throws an `OptionError` if the options
 * are invalid.
 */
export function servePlace(hub: Hub, server: ServerConfig): ServePlace {
  const profiles = getService(hub.services, PROFILES).served;
  const resolved = resolveHttp(server, getService(hub.services, ACCESS_PLAN)(server));
  const { drainMs: shutdownGraceMs = resolved.limits.shutdownGraceMs } = getService(hub.services, STATE);
  const http = { ...resolved, limits: { ...resolved.limits, shutdownGraceMs }, profiles };
  return {
    http,
    access: auditedAccess(getService(hub.services, CREATE_ACCESS)(http), getService(hub.services, AUDIT)),
  };
}

/** Returns a function that closes a listener and its endpoints once. */
export function closerOf(
  listener: Listener,
  endpoints: Omit<Endpoint, "mount">,
  { endpointClosed, graceMs }: { readonly endpointClosed: () => void; readonly graceMs: number },
): () => Promise<void> {
  let closed: Promise<void> | undefined;
  const close = async (): Promise<void> => {
    endpointClosed();
    endpoints.drain?.();
    // Calls that exceed the grace time get an answer before their connections are closed.
    const lastWords = setTimeout(() => endpoints.giveUp(), Math.max(0, graceMs - LATE_ANSWERS_MS));
    await listener.close();
    clearTimeout(lastWords);
    endpoints.close();
  };
  return () => (closed ??= close());
}

/** Creates the listener. The code of workers is loaded only if there are workers. */
async function listenerFor({ http, access: { authenticator } }: ServePlace, hub: Hub): Promise<PortListener> {
  if (http.workers === 1) return createListener(http, hub.logger, authenticator);
  const { createWorkerPool } = await import("../../http/adapters/workers/pool.ts");
  return createWorkerPool(http, hub.logger, authenticator);
}

/** Opens the certificate. The code for TLS is loaded only if it is needed. */
async function certificateFor(
  { tls }: HttpOptions,
  { logger }: Hub,
  listener: PortListener,
): Promise<ServedCertificate | undefined> {
  if (!tls) return undefined;
  const { ServedCertificate: Certificate } = await import("./certificate.ts");
  return Certificate.open(tls, { logger, use: (pair) => listener.certify(pair) });
}
