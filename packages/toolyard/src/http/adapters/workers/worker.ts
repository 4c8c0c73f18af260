import type { Socket } from "node:net";
import type { Authentication } from "../../../core/ports/authenticator.ts";
import { messageOf } from "../../../core/errors.ts";
import type { JsonObject } from "../../../core/json/json.ts";
import type { Logger } from "../../../core/ports/ports.ts";
import type { HttpAnswer } from "../../answer/answer.ts";
import { NOBODY, type HttpExchange } from "../../exchange.ts";
import { createAdoptingListener, type AdoptingListener } from "../node/listener.ts";
import { Refusal } from "../../answer/refusal.ts";
import type { Handler, RefusalBody } from "../../router.ts";
import type { KeyPair } from "../../tls/key-pair.ts";
import type { RawHeaders } from "../../wire.ts";
import type { Channel } from "./channel.ts";
import { writePrincipal } from "./principal-text.ts";
import { RemoteAuthenticator } from "./remote-authenticator.ts";
import { FRAME, type WorkerFrame } from "./frames.ts";
import {
  REFUSAL_MARK,
  type WorkerAnswerHead,
  type LogHead,
  type RequestHead,
  type WorkerRoute,
  type WorkerSettings,
} from "./messages.ts";

/** Maximum size of an answer that is written together with its head. */
const MAX_JOINED_BYTES = 64 * 1024;

/**
 * HTTP listener in a worker: reads, checks, authenticates and routes requests, handles bodies and slow callers, and
 * writes answers. The primary runs the handlers, so a worker knows no tools and no sessions.
 */
export class Worker {
  readonly #channel: Channel;
  readonly #logger: Logger;
  readonly #open = new Map<number, HttpAnswer>();
  readonly #listener: AdoptingListener;
  readonly #authenticator: RemoteAuthenticator;
  /** Exchanges whose reader is slower than the writer. */
  readonly #slow = new Set<number>();
  /** Milliseconds between progress reports about slow readers. */
  readonly #progressMs: number;
  #lastExchange = 0;

  constructor(channel: Channel, { options, routes }: WorkerSettings) {
    this.#channel = channel;
    this.#progressMs = options.limits.streamStallMs / 4;
    this.#logger = channelLogger(channel);
    this.#authenticator = new RemoteAuthenticator(channel);
    this.#listener = createAdoptingListener(options, this.#logger, this.#authenticator);
    for (const [index, route] of routes.entries())
      this.#listener.route(route, this.#forwarder(index), refusalsOf(route));
  }

  /** Serves a connection. The socket is absent if its caller disconnected during the transfer. */
  adopt(socket: Socket | undefined): void {
    this.#channel.sendBare(FRAME.opened);
    if (!socket) return this.#channel.sendBare(FRAME.closed);
    socket.once("close", () => this.#channel.sendBare(FRAME.closed));
    this.#listener.adopt(socket);
  }

  certify(pair: KeyPair): Promise<void> {
    return this.#listener.certify(pair);
  }

  /** Waits for running requests within the grace time. */
  close(): Promise<void> {
    return this.#listener.close();
  }

  /** Handles a frame of the primary about a request or an authentication. */
  receive(frame: WorkerFrame): void {
    const { type, exchange, head } = frame;
    if (type === FRAME.principal) return this.#authenticator.answered(exchange, JSON.parse(head) as Authentication);
    const answer = this.#open.get(exchange);
    // No answer is open, because the client has disconnected: the primary sent this frame before it received the report
    // of that.
    if (!answer) return;
    // A failure affects only one answer. It must not end the process, which serves other connections.
    try {
      this.#send(answer, frame);
    } catch (error) {
      this.#logger.error("An answer could not be sent.", { error: messageOf(error) });
      this.#open.delete(exchange);
      answer.cut();
    }
  }

  #send(answer: HttpAnswer, { type, exchange, head, body }: WorkerFrame): void {
    switch (type) {
      case FRAME.answer:
        this.#open.delete(exchange);
        return sendWhole(answer, readHead(head), body);
      case FRAME.begin: {
        const { status, headers } = readHead(head);
        answer.begin(status, headers);
        return answer.flush();
      }
      case FRAME.piece:
        return this.#piece(answer, exchange, body);
      case FRAME.end:
        this.#open.delete(exchange);
        return answer.end();
      case FRAME.cut:
        this.#open.delete(exchange);
        return answer.cut();
    }
  }

  #piece(answer: HttpAnswer, exchange: number, body: Buffer): void {
    const { length } = body;
    // The body is copied, because the socket may hold it for a long time and would keep the whole buffer in memory.
    const isEnough = !answer.write(Buffer.from(body), () => this.#reportTaken(exchange, length));
    if (isEnough && !this.#slow.has(exchange)) this.#watchSlow(answer, exchange);
  }

  #reportTaken(exchange: number, bytes: number): void {
    this.#channel.sendHead(FRAME.taken, exchange, String(bytes));
  }

  /**
   * Watches a slow reader. A piece counts as read when it was read completely; until then the primary receives progress
   * reports.
   */
  #watchSlow(answer: HttpAnswer, exchange: number): void {
    this.#slow.add(exchange);
    let before = answer.sentBytes;
    const timer = setInterval(() => {
      if (answer.sentBytes !== before) this.#reportTaken(exchange, 0);
      before = answer.sentBytes;
    }, this.#progressMs).unref();
    answer.onClosed(() => {
      clearInterval(timer);
      this.#slow.delete(exchange);
    });
  }

  #forwarder(route: number): Handler {
    return (exchange) => this.#forward(route, exchange);
  }

  async #forward(route: number, exchange: HttpExchange): Promise<void> {
    if (this.#channel.isFull) throw new Refusal(503, "The hub is overloaded. Try again later.", { "retry-after": "1" });
    const { answer } = exchange;
    const read = await readWhole(exchange);
    if (answer.isGone) return;
    const number = this.#nextExchange();
    this.#open.set(number, answer);
    answer.onClosed(() => {
      if (this.#open.delete(number)) this.#channel.sendBare(FRAME.gone, number);
    });
    const isRefused = read instanceof Refusal;
    this.#channel.send({
      type: FRAME.request,
      exchange: number,
      head: JSON.stringify(headOf(route, exchange, read)),
      body: isRefused ? "" : read,
    });
  }

  #nextExchange(): number {
    do this.#lastExchange = (this.#lastExchange + 1) >>> 0;
    while (this.#open.has(this.#lastExchange));
    return this.#lastExchange;
  }
}

function headOf(route: number, exchange: HttpExchange, read: Buffer | Refusal): RequestHead {
  const { method, search, headers, principal, remoteAddress, baseUrl, path, mount } = exchange;
  return {
    method,
    target: search === "" ? path : `${path}?${search}`,
    route,
    // The caller was authenticated here, so the token is not passed on. On an open path, `Authorization` belongs to the
    // endpoint and is passed on.
    headers: principal === NOBODY ? headers : { ...headers, authorization: undefined },
    principal: writePrincipal(principal),
    remoteAddress,
    baseUrl,
    mount,
    path,
    search,
    ...(read instanceof Refusal && {
      refusal: { status: read.status, message: read.message, headers: read.headers },
    }),
  };
}

const NO_BODY = Buffer.alloc(0);

/** Returns the body, or the refusal for the code that reads it. */
async function readWhole(exchange: HttpExchange): Promise<Buffer | Refusal> {
  const hasBody =
    exchange.header("transfer-encoding") !== undefined ||
    exchange.header("content-encoding") !== undefined ||
    (exchange.header("content-length") ?? "0") !== "0";
  if (!hasBody) return NO_BODY;
  try {
    return await exchange.readBody();
  } catch (error) {
    if (error instanceof Refusal) return error;
    throw error;
  }
}

interface RawHead {
  readonly status: number;
  readonly headers: RawHeaders;
}

function readHead(text: string): RawHead {
  const { status, headers } = JSON.parse(text) as WorkerAnswerHead;
  return {
    status,
    headers: Object.entries(headers).flatMap(([name, value]) => [value].flat().flatMap((one) => [name, one])),
  };
}

/** Sends a whole answer. The head contains the length of the body. */
function sendWhole(answer: HttpAnswer, { status, headers }: RawHead, body: Buffer): void {
  answer.begin(status, headers);
  if (body.length <= MAX_JOINED_BYTES) answer.end(body.toString("latin1"), "latin1");
  else answer.end(Buffer.from(body));
}

function refusalsOf({ refusals }: WorkerRoute): RefusalBody | undefined {
  if (!refusals) return undefined;
  const quote = (message: string): string => JSON.stringify(message).slice(1, -1);
  return ({ status, message }) =>
    (refusals[status] ?? refusals[500] ?? "{}").replace(REFUSAL_MARK, () => quote(message));
}

/** Creates a logger that passes its lines to the primary. */
function channelLogger(channel: Channel, own: JsonObject = {}): Logger {
  const at =
    (level: LogHead["level"]) =>
    (message: string, facts: JsonObject = {}) => {
      channel.sendHead(FRAME.log, 0, JSON.stringify({ level, message, facts: { ...own, ...facts } } satisfies LogHead));
    };
  return {
    debug: at("debug"),
    info: at("info"),
    warning: at("warning"),
    error: at("error"),
    with: (facts) => channelLogger(channel, { ...own, ...facts }),
  };
}
