import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { JsonObject } from "../../core/json.ts";
import type { Logger } from "../../core/ports.ts";
import { createAdoptingListener, type AdoptingListener } from "../listener.ts";
import { Refusal } from "../refusal.ts";
import type { RequestContext } from "../request-context.ts";
import type { Handler, RefusalBody } from "../router.ts";
import type { Channel } from "./channel.ts";
import { FRAME, type Frame } from "./frames.ts";
import {
  REFUSAL_MARK,
  type AnswerHead,
  type LogHead,
  type RequestHead,
  type WorkerRoute,
  type WorkerSettings,
} from "./messages.ts";

/** An answer up to this size leaves in one write with its head. */
const MAX_JOINED_BYTES = 64 * 1024;

/**
 * The part of the HTTP door that a worker does: everything of the listener (reading, guarding, authenticating, routing,
 * bodies, slow callers) and the writing of answers. What a request means is asked of the primary, so a worker knows no
 * tool and no session.
 */
export class Worker {
  readonly #channel: Channel;
  readonly #open = new Map<number, ServerResponse>();
  readonly #listener: AdoptingListener;
  #lastExchange = 0;

  constructor(channel: Channel, { options, routes }: WorkerSettings) {
    this.#channel = channel;
    this.#listener = createAdoptingListener(options, channelLogger(channel));
    for (const [index, route] of routes.entries())
      this.#listener.route(route.methods, route.path, this.#forwarder(index), refusalsOf(route));
  }

  /** Serves a connection; none, when its caller had gone before it arrived. */
  adopt(socket: Socket | undefined): void {
    this.#channel.send(FRAME.opened);
    if (!socket) return this.#channel.send(FRAME.closed);
    socket.once("close", () => this.#channel.send(FRAME.closed));
    this.#listener.adopt(socket);
  }

  /** Ends what runs within the grace time. */
  close(): Promise<void> {
    return this.#listener.close();
  }

  /** Takes a frame that belongs to a request. */
  receive({ type, exchange, head, body }: Frame): void {
    const response = this.#open.get(exchange);
    // Its caller has gone, which the primary did not know yet.
    if (!response) return;
    switch (type) {
      case FRAME.answer:
        this.#open.delete(exchange);
        return answer(response, JSON.parse(head) as AnswerHead, body);
      case FRAME.begin:
        return begin(response, JSON.parse(head) as AnswerHead);
      case FRAME.piece:
        return this.#piece(response, exchange, body);
      case FRAME.end:
        this.#open.delete(exchange);
        return void response.end();
      case FRAME.cut:
        this.#open.delete(exchange);
        return void response.destroy();
    }
  }

  #piece(response: ServerResponse, exchange: number, body: Buffer): void {
    // The socket may hold it for long, and the buffer around it with it.
    response.write(Buffer.from(body), () => this.#channel.send(FRAME.taken, exchange, String(body.length)));
  }

  #forwarder(route: number): Handler {
    return (request, response, context) => this.#forward(route, { request, response, context });
  }

  async #forward(route: number, { request, response, context }: Arrived): Promise<void> {
    if (this.#channel.isFull)
      throw new Refusal(503, "The hub has more to do than it can. Try again later.", { "retry-after": "1" });
    const read = await readWhole(request, context);
    if (response.destroyed) return;
    const head: RequestHead = {
      method: request.method ?? "GET",
      url: request.url ?? "/",
      route,
      // Who calls is settled here, so the token goes no further.
      headers: { ...request.headers, authorization: undefined },
      principal: context.principal.id,
      remoteAddress: context.remoteAddress,
      baseUrl: context.baseUrl,
      path: context.path,
      ...(read instanceof Refusal && {
        refusal: { status: read.status, message: read.message, headers: read.headers },
      }),
    };
    const exchange = this.#nextExchange();
    this.#open.set(exchange, response);
    response.once("close", () => {
      if (this.#open.delete(exchange)) this.#channel.send(FRAME.gone, exchange);
    });
    this.#channel.send(FRAME.request, exchange, JSON.stringify(head), read instanceof Refusal ? "" : read);
  }

  #nextExchange(): number {
    do this.#lastExchange = (this.#lastExchange + 1) >>> 0;
    while (this.#open.has(this.#lastExchange));
    return this.#lastExchange;
  }
}

interface Arrived {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly context: RequestContext;
}

const NO_BODY = Buffer.alloc(0);

/** The body, or what somebody who wants to read it is told. */
async function readWhole({ headers }: IncomingMessage, context: RequestContext): Promise<Buffer | Refusal> {
  const hasBody =
    headers["transfer-encoding"] !== undefined ||
    headers["content-encoding"] !== undefined ||
    (headers["content-length"] ?? "0") !== "0";
  if (!hasBody) return NO_BODY;
  try {
    return await context.readBody();
  } catch (error) {
    if (error instanceof Refusal) return error;
    throw error;
  }
}

function answer(response: ServerResponse, { status, headers }: AnswerHead, body: Buffer): void {
  response.writeHead(status, headers as OutgoingHttpHeaders);
  if (body.length === 0) response.end();
  else if (body.length <= MAX_JOINED_BYTES) response.end(body.toString("latin1"), "latin1");
  else response.end(Buffer.from(body));
}

function begin(response: ServerResponse, { status, headers }: AnswerHead): void {
  response.writeHead(status, headers as OutgoingHttpHeaders);
  response.flushHeaders();
}

function refusalsOf({ refusals }: WorkerRoute): RefusalBody | undefined {
  if (!refusals) return undefined;
  const quote = (message: string): string => JSON.stringify(message).slice(1, -1);
  return ({ status, message }) =>
    (refusals[status] ?? refusals[500] ?? "{}").replace(REFUSAL_MARK, () => quote(message));
}

/** The log is the primary's. */
function channelLogger(channel: Channel, own: JsonObject = {}): Logger {
  const at =
    (level: LogHead["level"]) =>
    (message: string, facts: JsonObject = {}) => {
      channel.send(FRAME.log, 0, JSON.stringify({ level, message, facts: { ...own, ...facts } } satisfies LogHead));
    };
  return {
    debug: at("debug"),
    info: at("info"),
    warning: at("warning"),
    error: at("error"),
    with: (facts) => channelLogger(channel, { ...own, ...facts }),
  };
}
