import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { CallSet } from "../core/call-map.ts";
import type { Logger } from "../core/ports.ts";
import { declaredLength, readBody, tooLarge } from "./body.ts";
import { allowOrigin, answerPreflight, isPreflight } from "./cors.ts";
import { answerFailure } from "./failure.ts";
import { ForwardedReader } from "./forwarded.ts";
import { Guard } from "./guard.ts";
import { listenOn } from "./listen-on.ts";
import type { HttpOptions } from "./options.ts";
import { Refusal, sendRefusal } from "./refusal.ts";
import { sendJson, sendText } from "./send.ts";
import { HandlerContext } from "./request-context.ts";
import { Router, type Handler, type RefusalBody, type Route } from "./router.ts";
import { TokenGate } from "./tokens.ts";

// An import would evaluate all exports of the module, since Node 22 `WebSocket` among them: undici, HTTP/2 and TLS, 10
// MB and 30 ms.
const { createServer } = process.getBuiltinModule("node:http");

export interface ListenerAddress {
  readonly host: string;
  /** The real one where 0 was asked for. */
  readonly port: number;
  /** `http://host:port/base`, to which paths are added. */
  readonly url: string;
}

/**
 * The HTTP listener that doors mount on. It guards, authenticates and routes; what a path means is its handler's
 * business.
 */
export interface Listener {
  /**
   * Mounts a handler below the base path. `path` is exact, or ends in `/*`. Other methods are answered 405.
   * `refusalBody` words what the listener itself refuses there; without it that is an error of JSON-RPC.
   */
  route(methods: readonly string[], path: string, handler: Handler, refusalBody?: RefusalBody): void;
  /** Rejects with an `OptionError` that names the port and says what to do when it cannot be had. */
  listen(): Promise<ListenerAddress>;
  readonly address: ListenerAddress | undefined;
  /** Stops accepting, lets answers in flight end within the grace time, closes every connection. Idempotent. */
  close(): Promise<void>;
}

export function createListener(options: HttpOptions, logger: Logger): Listener {
  return new HttpListener(options, logger);
}

/** A listener that is given its connections, by another process or within this one. It need not listen. */
export interface AdoptingListener extends Listener {
  /** Serves a connection of which nothing was read yet. */
  adopt(socket: Socket): void;
}

export function createAdoptingListener(options: HttpOptions, logger: Logger): AdoptingListener {
  return new HttpListener(options, logger);
}

class HttpListener implements Listener, AdoptingListener {
  readonly #options: HttpOptions;
  readonly #logger: Logger;
  readonly #router = new Router();
  readonly #guard: Guard;
  readonly #gate: TokenGate;
  readonly #forwarded: ForwardedReader;
  readonly #closing = new AbortController();
  readonly #inFlight = new CallSet<ServerResponse>();
  readonly #sockets = new Set<Socket>();
  readonly #server: Server;
  #address: ListenerAddress | undefined;
  #isAdopting = false;
  #closed: Promise<void> | undefined;

  constructor(options: HttpOptions, logger: Logger) {
    this.#options = options;
    this.#logger = logger;
    this.#guard = new Guard(options);
    this.#gate = new TokenGate(options.tokens, options.openRights);
    this.#forwarded = new ForwardedReader(options.trustedProxies);
    this.#server = this.#createServer();
  }

  get address(): ListenerAddress | undefined {
    return this.#address;
  }

  route(methods: readonly string[], path: string, handler: Handler, refusalBody?: RefusalBody): void {
    this.#router.add(methods, path, handler, refusalBody);
  }

  async listen(): Promise<ListenerAddress> {
    const { host, port, basePath } = this.#options;
    await listenOn(this.#server, host, port);
    this.#address = addressOf(this.#server.address() as AddressInfo, basePath);
    return this.#address;
  }

  adopt(socket: Socket): void {
    // Node begins to watch over slow callers when a server listens.
    if (!this.#isAdopting) this.#server.emit("listening");
    this.#isAdopting = true;
    // As Node makes the sockets of a server of HTTP: a caller may end its side before it is answered.
    socket.allowHalfOpen = true;
    this.#server.emit("connection", socket);
    socket.resume();
  }

  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    this.#closing.abort();
    for (const response of this.#inFlight.values()) response.shouldKeepAlive = false;
    const ended = new Promise<void>((resolve) => {
      this.#server.close(() => resolve());
    });
    this.#closeUnused();
    const timer = setTimeout(() => this.#server.closeAllConnections(), this.#options.limits.shutdownGraceMs);
    await ended;
    // A server knows of the connections that it accepted itself, and waits for no others.
    await Promise.all(
      Array.from(this.#sockets, (socket) => new Promise((resolve) => void socket.once("close", resolve))),
    );
    clearTimeout(timer);
  }

  // Node counts a connection on which nothing was sent yet as busy, and would wait for it.
  #closeUnused(): void {
    const busy = new Set(this.#inFlight.values().map(({ socket }) => socket));
    for (const socket of this.#sockets) if (!busy.has(socket)) socket.destroy();
  }

  #createServer(): Server {
    const { limits } = this.#options;
    const server = createServer({
      maxHeaderSize: limits.maxHeaderBytes,
      requestTimeout: limits.requestTimeoutMs,
      headersTimeout: limits.requestTimeoutMs,
      keepAliveTimeout: limits.idleTimeoutMs,
      connectionsCheckingInterval: Math.min(limits.requestTimeoutMs, CHECK_INTERVAL_MS),
      noDelay: true,
    });
    // Bounds on receiving are above; an answer may take as long as its call, and a stream as long as its reader wants.
    server.timeout = 0;
    server.maxConnections = limits.maxConnections;
    server.on("connection", (socket: Socket) => {
      this.#sockets.add(socket);
      socket.once("close", () => this.#sockets.delete(socket));
    });
    server.on("request", (request, response) => this.#serve(request, response));
    server.on("checkContinue", (request: IncomingMessage, response: ServerResponse) => {
      if (declaredLength(request) > limits.maxBodyBytes) return sendRefusal(response, tooLarge(limits.maxBodyBytes));
      response.writeContinue();
      this.#serve(request, response);
    });
    return server;
  }

  #serve(request: IncomingMessage, response: ServerResponse): void {
    this.#inFlight.add(response);
    // Both happen once; `once` would make a further function for each.
    response.on("close", () => {
      this.#inFlight.delete(response);
      // Nothing further is served on a connection that outlives the listener.
      if (this.#closing.signal.aborted) request.socket.destroySoon();
    });
    response.on("prefinish", () => this.#watchReader(response));
    try {
      const handled = this.#dispatch(request, response);
      if (handled instanceof Promise) handled.catch((error: unknown) => this.#failed(error, request, response));
    } catch (error) {
      this.#failed(error, request, response);
    }
  }

  /** A caller that does not read its answer must not hold it in memory for ever. */
  #watchReader(response: ServerResponse): void {
    if (response.writableLength === 0) return;
    const timer = setTimeout(() => response.destroy(), this.#options.limits.streamStallMs).unref();
    response.once("close", () => clearTimeout(timer));
  }

  #dispatch(request: IncomingMessage, response: ServerResponse): void | Promise<void> {
    this.#guard.check(request);
    const allowed = this.#guard.corsOrigin(request.headers.origin);
    if (allowed !== undefined) allowOrigin(response, allowed);
    const { path, search } = splitTarget(request.url ?? "/");
    if (isHealthPath(path, this.#options.basePath)) return this.#answerHealth(response);
    const inner = innerPath(path, this.#options.basePath);
    const route = inner === undefined ? undefined : this.#router.find(inner);
    if (inner === undefined || !route) return sendText(response, 404, "Not Found");
    if (allowed !== undefined && isPreflight(request)) return answerPreflight(request, response, route.methods);
    const principal = this.#gate.admit(request.headers.authorization);
    assertMethod(route, request.method ?? "GET");
    if (this.#closing.signal.aborted)
      throw new Refusal(503, "The server is stopping.", { connection: "close", "retry-after": "1" });
    const facts = this.#forwarded.read(request);
    const known = {
      principal,
      remoteAddress: facts.remoteAddress,
      baseUrl: facts.origin + this.#options.basePath,
      path: inner,
      search,
      closing: this.#closing.signal,
    };
    return route.handler(
      request,
      response,
      new HandlerContext(known, {
        response,
        limits: this.#options.limits,
        readBody: (maxBytes) => readBody(request, maxBytes),
      }),
    );
  }

  #routeOf(request: IncomingMessage): Route | undefined {
    const inner = innerPath(splitTarget(request.url ?? "/").path, this.#options.basePath);
    return inner === undefined ? undefined : this.#router.find(inner);
  }

  #answerHealth(response: ServerResponse): void {
    const isStopping = this.#closing.signal.aborted;
    sendJson(response, isStopping ? 503 : 200, isStopping ? '{"status":"stopping"}' : '{"status":"ok"}');
  }

  #failed(error: unknown, request: IncomingMessage, response: ServerResponse): void {
    answerFailure(error, {
      response,
      method: request.method,
      logger: this.#logger,
      refusalBody: this.#routeOf(request)?.refusalBody,
    });
  }
}

/** How callers on this machine reach what is bound. */
export function addressOf({ address, family, port }: AddressInfo, basePath: string): ListenerAddress {
  const shown = family === "IPv6" ? `[${address}]` : address;
  const reachable = address === "::" || address === "0.0.0.0" ? "127.0.0.1" : shown;
  return { host: address, port, url: `http://${reachable}:${port}${basePath}` };
}

function assertMethod(route: Route, method: string): void {
  if (!route.methods.includes(method))
    throw new Refusal(405, "Method not allowed.", { allow: route.methods.join(", ") });
}

/** Path and query of a request line; the form with a whole URL is legal too. */
function splitTarget(target: string): { readonly path: string; readonly search: string } {
  const local = target.startsWith("/") ? target : target.replace(/^https?:\/\/[^/?]*/i, "") || "/";
  const mark = local.indexOf("?");
  return mark === -1 ? { path: local, search: "" } : { path: local.slice(0, mark), search: local.slice(mark + 1) };
}

function innerPath(path: string, basePath: string): string | undefined {
  if (basePath === "") return path;
  if (path === basePath) return "/";
  return path.startsWith(`${basePath}/`) ? path.slice(basePath.length) : undefined;
}

/** Both at the root and below the base path: whoever checks may sit on either side of a proxy. */
function isHealthPath(path: string, basePath: string): boolean {
  const inner = basePath !== "" && path.startsWith(`${basePath}/`) ? path.slice(basePath.length) : path;
  return inner === "/healthz" || inner === "/health";
}

const CHECK_INTERVAL_MS = 5000;
