import type { Socket } from "node:net";
import { FRAME, type OutgoingFrame, type WorkerFrame } from "../../adapters/workers/frames.ts";
import type { HttpExchange } from "../../exchange.ts";
import { Forwarding, readAnswerHead, type AnswerHead, type AnswerSource, type ForwardResult } from "../forwarding.ts";
import { ALIVE, FrameConnection } from "./frame-connection.ts";
import { MAX_EXCHANGES } from "./frame-host.ts";
import type { ConnectionKeys } from "./handshake.ts";

/** Request with the text of its head. */
export interface FramedMessage {
  readonly head: string;
  readonly body: string | Uint8Array;
}

/** Maximum number of cached heads of answers. */
const MAX_HEADS = 1024;
/**
 * Interval in milliseconds of the check that closes an unused connection. A connection is unused if no request is
 * running and none was sent since the previous check.
 */
const UNUSED_MS = 60_000;
const LAST_EXCHANGE = 2 ** 32;

/** Connection on which this hub sends requests to another hub. */
export class FrameClient {
  readonly #connection: FrameConnection;
  readonly #sent = new Map<number, Forwarding>();
  readonly #heads = new Map<string, AnswerHead>();
  readonly #source: AnswerSource = {
    readHead: (text) => this.#head(text),
    taken: (exchange, bytes) => this.#connection.sendHead(FRAME.taken, exchange, String(bytes)),
    gone: (exchange) => this.#connection.sendBare(FRAME.gone, exchange),
  };
  #lastExchange = 0;
  readonly #timer: NodeJS.Timeout;
  #isLeaving = false;
  /** True if a request was sent since the last check. */
  #isUsed = true;

  /** `rest`: bytes that arrived together with the end of the handshake, and that follow it. */
  constructor(socket: Socket, keys: ConnectionKeys, rest: Buffer) {
    this.#connection = new FrameConnection({
      socket,
      ownKey: keys.client,
      otherKey: keys.server,
      onFrame: (frame) => this.#received(frame),
      onClosed: (unsent) => this.#closed(unsent),
    });
    // Proves to the other hub that this hub has the keys. This record must be small, so it contains no requests.
    this.#connection.sendBare(ALIVE);
    this.#connection.flush();
    if (rest.length > 0) socket.unshift(rest);
    this.#timer = setInterval(() => this.#check(), UNUSED_MS).unref();
    socket.resume();
  }

  /** True if new requests may be sent. */
  get isUsable(): boolean {
    return this.#connection.isOpen && !this.#isLeaving;
  }

  /**
   * Sends a request, unless its caller has disconnected. Resolves with `undefined`, without sending it, if the
   * connection is closing, or if too many bytes or requests wait.
   */
  forward(http: HttpExchange, { head, body }: FramedMessage): Promise<ForwardResult | undefined> {
    const connection = this.#connection;
    if (!this.isUsable || connection.isFull || this.#sent.size >= MAX_EXCHANGES) return Promise.resolve(undefined);
    const exchange = this.#nextExchange();
    const forwarding = new Forwarding(http, () => {
      if (this.#sent.has(exchange)) connection.sendBare(FRAME.gone, exchange);
      this.#drop(exchange);
    });
    // A request that the other hub received now would be executed, and nobody could cancel it.
    if (forwarding.isOver) return forwarding.result;
    this.#isUsed = true;
    this.#sent.set(exchange, forwarding);
    connection.send({ type: FRAME.request, exchange, head, body });
    return forwarding.result;
  }

  /** Sends no further requests, and closes the connection when the running ones were answered. */
  leave(): void {
    this.#isLeaving = true;
    this.#endIfUnused();
  }

  close(): void {
    this.#connection.close();
  }

  #nextExchange(): number {
    do this.#lastExchange = (this.#lastExchange + 1) % LAST_EXCHANGE;
    while (this.#sent.has(this.#lastExchange));
    return this.#lastExchange;
  }

  #received(frame: WorkerFrame): void {
    if (frame.type === FRAME.close) return this.leave();
    if (this.#sent.get(frame.exchange)?.receive(frame, this.#source)) this.#drop(frame.exchange);
  }

  #head(text: string): AnswerHead {
    let head = this.#heads.get(text);
    if (head) return head;
    head = readAnswerHead(text);
    if (this.#heads.size >= MAX_HEADS) this.#heads.clear();
    this.#heads.set(text, head);
    return head;
  }

  #drop(exchange: number): void {
    this.#sent.delete(exchange);
    this.#endIfUnused();
  }

  #endIfUnused(): void {
    if (this.#isLeaving && this.#sent.size === 0) this.#connection.end();
  }

  #check(): void {
    if (!this.#isUsed && this.#sent.size === 0) this.leave();
    this.#isUsed = false;
  }

  #closed(unsent: readonly OutgoingFrame[]): void {
    clearInterval(this.#timer);
    const kept = new Set(unsent.map(({ type, exchange }) => (type === FRAME.request ? exchange : undefined)));
    for (const [exchange, forwarding] of Array.from(this.#sent))
      forwarding.fail(kept.has(exchange) ? "unsent" : "lost");
    this.#sent.clear();
  }
}
