import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { createServer as createNetServer, type AddressInfo, type Server as NetServer, type Socket } from "node:net";
import { CallSet } from "../../../core/calls/call-map.ts";
import type { Authenticator } from "../../../core/ports/authenticator.ts";
import type { Logger } from "../../../core/ports/ports.ts";
import { HttpAnswer } from "../../answer/answer.ts";
import { tooLarge } from "../../request/body-refusals.ts";
import { Dispatcher } from "../../dispatcher.ts";
import type { ExchangePlace } from "../../exchange.ts";
import { listenOn } from "../../listening/listen-on.ts";
import type { ListenerAddress, PortListener, TakeConnection } from "../../listening/listener.ts";
import type { HttpOptions } from "../../options.ts";
import { urlOf } from "../../listening/reach.ts";
import { sendRefusal } from "../../answer/refusal.ts";
import type { Handler, RefusalBody, RoutePlace } from "../../router.ts";
import type { TlsGate } from "../../tls/gate.ts";
import type { KeyPair } from "../../tls/key-pair.ts";
import type { BodyBudget } from "../../request/body-budget.ts";
import { findHeadFault, KEPT_FIELDS } from "../../request/head-limits.ts";
import { declaredLength } from "./body.ts";
import { PacedSocket } from "./paced-socket.ts";
import { TurnQueue } from "./turn-queue.ts";
import { PlainConnection, type PlainOwner } from "./plain/connection.ts";
import type { PlainWire } from "./plain/wire.ts";
import { NodeWire, type WireOwner } from "./wire.ts";

// The module is not imported, because an import would evaluate all its exports. Since Node 22 they include `WebSocket`
// with undici, HTTP/2 and TLS: 10 MB and 30 ms.
const { createServer } = process.getBuiltinModule("node:http");

export function createListener(options: HttpOptions, logger: Logger, authenticator: Authenticator): PortListener {
  return new NodeListener(options, logger, authenticator);
}

/** Listener that can receive its connections from another process, and need not listen itself. */
export interface AdoptingListener extends PortListener {
  /** Serves a connection from which nothing has been read. */
  adopt(socket: Socket): void;
}

export function createAdoptingListener(
  options: HttpOptions,
  logger: Logger,
  authenticator: Authenticator,
): AdoptingListener {
  return new NodeListener(options, logger, authenticator);
}

/** Listener that accepts connections itself, or receives them. If possible, `plain/` reads the requests. */
class NodeListener implements AdoptingListener, WireOwner, PlainOwner {
  readonly streamStallMs: number;
  readonly #options: HttpOptions;
  readonly #logger: Logger;
  readonly #dispatcher: Dispatcher;
  readonly bodies: BodyBudget;
  readonly #turns = new TurnQueue();
  readonly #closing = new AbortController();
  readonly #inFlight = new CallSet<NodeWire | PlainWire>();
  readonly #sockets = new Set<Socket>();
  /** Server that accepts connections. */
  readonly #front: NetServer;
  /** Server for requests that are not plain. It does not listen. */
  readonly #server: Server;
  #gate: TlsGate | undefined;
  #take: TakeConnection | undefined;
  /** Connections that `#take` has taken over. */
  readonly #taken = new Set<Socket>();
  #name: string | undefined;
  #address: ListenerAddress | undefined;
  #isWatching = false;
  #closed: Promise<void> | undefined;

  constructor(options: HttpOptions, logger: Logger, authenticator: Authenticator) {
    this.#options = options;
    this.#logger = logger;
    this.streamStallMs = options.limits.streamStallMs;
    this.#dispatcher = new Dispatcher(options, { logger, authenticator, closing: this.#closing.signal });
    this.bodies = this.#dispatcher.bodies;
    this.#front = this.#createFront();
    this.#server = this.#createServer();
  }

  get address(): ListenerAddress | undefined {
    return this.#address;
  }

  get place(): ExchangePlace {
    return this.#dispatcher.place;
  }

  route(place: RoutePlace, handler: Handler, refusalBody?: RefusalBody): void {
    this.#dispatcher.router.add(place, handler, refusalBody);
  }

  upgrade(take: TakeConnection): void {
    this.#take = take;
  }

  async certify(pair: KeyPair): Promise<void> {
    const [{ TlsGate: Gate }, { nameToReach }] = await Promise.all([
      import("../../tls/gate.ts"),
      import("../../tls/key-pair.ts"),
    ]);
    this.#name = nameToReach(pair, this.#options);
    if (this.#gate) return this.#gate.use(pair);
    const withinMs = this.#options.limits.requestTimeoutMs;
    this.#gate = new Gate({ withinMs, onSecure: (socket) => this.#open(socket) }, pair);
  }

  async listen(): Promise<ListenerAddress> {
    const { host, port } = this.#options;
    await listenOn(this.#front, host, port);
    this.#address = addressOf(this.#front.address() as AddressInfo, this.#options, this.#name);
    return this.#address;
  }

  adopt(socket: Socket): void {
    // Like in Node's HTTP server, a caller may end its side of the connection before the answer.
    socket.allowHalfOpen = true;
    if (this.#gate) this.#gate.take(socket);
    else this.#open(socket);
  }

  serve(wire: PlainWire): void {
    this.#inFlight.add(wire);
    this.#dispatcher.serve({ request: wire, answer: new HttpAnswer(wire, this.#logger) });
  }

  inTurn(begin: () => void): void {
    this.#turns.add(begin);
  }

  handOver(socket: Socket, bytes: Buffer): void {
    if (this.#take?.(socket, bytes)) {
      this.#taken.add(socket);
      return void socket.once("close", () => this.#taken.delete(socket));
    }
    // Node starts the timers for slow clients when a server emits `listening`, and this server never listens.
    if (!this.#isWatching) this.#server.emit("listening");
    this.#isWatching = true;
    const account = this.bodies.open(`address ${socket.remoteAddress ?? ""}`, () => socket.destroy());
    const paced = new PacedSocket({ socket, bytes, queue: this.#turns, account });
    this.#server.emit("connection", paced);
    // Parsing costs more than reading, and many connections may arrive in one turn of the event loop, so each one is
    // queued.
    this.#turns.add(() => paced.start());
  }

  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  over(wire: NodeWire | PlainWire): void {
    this.#inFlight.delete(wire);
    // After the listener was closed, a connection serves no further request.
    if (this.#closing.signal.aborted) wire.socket.destroySoon();
  }

  async #close(): Promise<void> {
    this.#closing.abort();
    for (const wire of this.#inFlight.values()) wire.endConnectionAfter();
    const ended = Promise.all([endOf(this.#server), endOf(this.#front)]);
    this.#gate?.close();
    this.#closeUnused();
    const timer = setTimeout(() => {
      for (const socket of this.#sockets) socket.destroy();
    }, this.#options.limits.shutdownGraceMs);
    await ended;
    // `close` of the front server does not wait for connections that another process passed.
    await Promise.all(
      Array.from(this.#sockets, (socket) => new Promise((resolve) => void socket.once("close", resolve))),
    );
    clearTimeout(timer);
  }

  // Closes connections without a request. Node would wait for a connection without data, because it counts as busy. A
  // connection that was taken over is closed by its new owner.
  #closeUnused(): void {
    const busy = new Set(this.#inFlight.values().map(({ socket }) => socket));
    for (const socket of this.#sockets) if (!busy.has(socket) && !this.#taken.has(socket)) socket.destroy();
  }

  /** Opens a connection from which nothing has been read, encrypted if required. */
  #open(socket: Socket): void {
    this.#sockets.add(socket);
    socket.once("close", () => this.#sockets.delete(socket));
    PlainConnection.begin(socket, this.#options.limits, this);
  }

  #createFront(): NetServer {
    const front = createNetServer({ noDelay: true }, (socket) => this.adopt(socket));
    front.maxConnections = this.#options.limits.maxConnections;
    return front;
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
    // The limits above apply to receiving. Sending has no limit: an answer may take as long as its call, and a stream
    // as long as its reader is connected.
    server.timeout = 0;
    server.maxHeadersCount = KEPT_FIELDS;
    server.on("request", (request, response) =>
      pacedSocketOf(request).enqueue(request, response, () => this.#serve(request, response)),
    );
    server.on("checkContinue", (request: IncomingMessage, response: ServerResponse) =>
      pacedSocketOf(request).enqueue(request, response, () => this.#serveContinued(request, response)),
    );
    return server;
  }

  #serveContinued(request: IncomingMessage, response: ServerResponse): void {
    const { maxBodyBytes } = this.#options.limits;
    if (declaredLength(request) > maxBodyBytes) return this.#serve(request, response, tooLarge(maxBodyBytes));
    response.writeContinue();
    this.#serve(request, response);
  }

  /** Serves a request. `fault`: refusal of the request, if it is already known. */
  #serve(request: IncomingMessage, response: ServerResponse, fault = findHeadFault(request.rawHeaders)): void {
    const wire = new NodeWire(request, response, this);
    this.#inFlight.add(wire);
    const answer = new HttpAnswer(wire, this.#logger);
    if (fault) sendRefusal(answer, fault);
    else this.#dispatcher.serve({ request: wire, answer });
  }
}

/**
 * Returns the socket of a request. All connections of the server are `PacedSocket`s, since `handOver` creates them.
 */
function pacedSocketOf({ socket }: IncomingMessage): PacedSocket {
  return socket as unknown as PacedSocket;
}

function endOf(server: NetServer): Promise<void> {
  return new Promise((resolve) => void server.close(() => resolve()));
}

/**
 * Returns the address of the listener and the URL for callers on this machine. `name`: name on the listener's
 * certificate.
 */
export function addressOf(
  { address, port }: AddressInfo,
  { basePath, tls }: Pick<HttpOptions, "basePath" | "tls">,
  name?: string,
): ListenerAddress {
  return { host: address, port, url: urlOf({ host: address, port, basePath, isSecure: tls !== undefined, name }) };
}

const CHECK_INTERVAL_MS = 5000;
