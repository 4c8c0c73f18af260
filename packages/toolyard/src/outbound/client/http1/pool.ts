import { isIP, type LookupFunction, type Socket } from "node:net";
import type { ConnectionOptions } from "node:tls";
import type { Cancellation } from "../../../core/calls/cancellation.ts";
import type { Holder } from "../../../core/fairness/shares.ts";
import { AnswerSink } from "../answer-sink.ts";
import { closed, Crowd } from "../crowd.ts";
import type { HttpResponse, TransportRequest, Sender } from "../sender.ts";
import { WireRequest, type RequestHolder } from "./wire-request.ts";
import { Http1Connection, type ConnectionOwner, type Destination } from "./connection.ts";
import { RequestWriter } from "./request-text.ts";

export interface Http1PoolOptions {
  /** The only origin that the connections serve. */
  readonly origin: string;
  readonly connectTimeoutMs: number;
  /** Maximum number of connections; a request above it waits for one. Every open stream occupies one. */
  readonly maxConnections: number;
  /** Time for which an idle connection is kept if the server sends none. @default 4 s */
  readonly keepAliveMs?: number;
  /** Certificates of trusted CAs. @default Node's own */
  readonly ca?: readonly string[] | undefined;
  /** Resolves host names. @default the system's resolver */
  readonly lookup?: LookupFunction | undefined;
}

const KEEP_ALIVE_MS = 4000;
const READ_BYTES = 64 * 1024;

/** HTTP/1.1 client of one origin, with or without TLS. Connections are kept and carry one request at a time. */
export class Http1Pool implements Sender, ConnectionOwner, RequestHolder {
  readonly #origin: string;
  readonly #writer: RequestWriter;
  readonly #maxConnections: number;
  readonly #destination: Destination;
  readonly #all = new Set<Http1Connection>();
  /** Idle connections. The most recently used one is used first, so that the others can time out. */
  readonly #free: Http1Connection[] = [];
  readonly #crowd = new Crowd<Http1Connection, WireRequest>(() => carriedBy(this.#all));
  #isClosed = false;

  constructor({ origin, maxConnections, ...options }: Http1PoolOptions, connectTls?: Destination["connectTls"]) {
    const { host, hostname, port, protocol } = new URL(origin);
    this.#origin = origin;
    this.#writer = new RequestWriter(host);
    this.#maxConnections = maxConnections;
    this.#destination = {
      host: hostname.replace(/^\[|\]$/g, ""),
      port: Number(port || (protocol === "https:" ? 443 : 80)),
      connectTimeoutMs: options.connectTimeoutMs,
      keepAliveMs: options.keepAliveMs ?? KEEP_ALIVE_MS,
      lookup: options.lookup,
      connectTls,
      readBuffer: Buffer.allocUnsafeSlow(READ_BYTES),
    };
  }

  send(request: TransportRequest, signal: Cancellation): Promise<HttpResponse> {
    return new Promise((resolve, reject) => {
      if (this.#isClosed || request.origin !== this.#origin) throw closed();
      const bytes = this.#writer.bytesOf(request);
      const sink = new AnswerSink({ resolve, reject }, signal);
      const asked = new WireRequest(bytes, request, sink);
      this.#place(asked);
      sink.begin(asked);
    });
  }

  destroy(): Promise<void> {
    this.#isClosed = true;
    this.#crowd.close(closed());
    for (const connection of this.#all) connection.destroy(closed());
    return Promise.resolve();
  }

  giveUp(asked: WireRequest): void {
    this.#crowd.leave(asked);
  }

  onFree(connection: Http1Connection): void {
    // A message may have opened one connection above the limit. It is closed when it becomes free.
    if (this.#all.size > this.#maxConnections) return connection.destroy(closed());
    this.#crowd.freed(connection);
    const next = this.#crowd.next();
    if (!next) return void this.#free.push(connection);
    this.#crowd.took(connection, next);
    connection.carry(next);
  }

  onGone(connection: Http1Connection, unsent: WireRequest | undefined): void {
    this.#all.delete(connection);
    const at = this.#free.indexOf(connection);
    if (at !== -1) this.#free.splice(at, 1);
    this.#crowd.freed(connection);
    // An unsent request was taken from the queue before the requests that still wait, so it is sent first.
    const next = unsent ?? (this.#all.size < this.#maxConnections ? this.#crowd.next() : undefined);
    if (next) this.#place(next);
  }

  #place(asked: WireRequest): void {
    if (this.#isClosed) return asked.sink.fail(closed());
    const free = this.#free.pop();
    if (free) return free.carry(asked);
    if (this.#all.size < this.#maxConnections + (asked.isMessage ? 1 : 0)) {
      const connection = new Http1Connection(this.#destination, this, asked);
      this.#all.add(connection);
      this.#crowd.took(connection, asked);
      return;
    }
    asked.keeper = this;
    this.#crowd.join(asked);
  }
}

/** Creates an `Http1Pool`. Loads TLS only for https. */
export async function createHttp1Pool(options: Http1PoolOptions): Promise<Http1Pool> {
  const { protocol, hostname } = new URL(options.origin);
  if (protocol === "http:") return new Http1Pool(options);
  const { connect } = await import("node:tls");
  // SNI does not allow an IP address, so the name is empty. The certificate is still verified for the address.
  const servername = isIP(hostname.replace(/^\[|\]$/g, "")) === 0 ? hostname : "";
  const { ca } = options;
  let session: Buffer | undefined;
  return new Http1Pool(options, (way: ConnectionOptions): Socket => {
    const socket = connect({
      ...way,
      servername,
      // Set explicitly, because Node would otherwise follow NODE_TLS_REJECT_UNAUTHORIZED in the environment.
      rejectUnauthorized: true,
      ALPNProtocols: ["http/1.1"],
      ...(ca && { ca: [...ca] }),
      ...(session && { session }),
    });
    return socket.on("session", (latest) => {
      session = latest;
    });
  });
}

function* carriedBy(connections: Iterable<Http1Connection>): Iterable<[Http1Connection, Holder]> {
  for (const connection of connections) if (connection.asked) yield [connection, connection.asked.holder];
}
