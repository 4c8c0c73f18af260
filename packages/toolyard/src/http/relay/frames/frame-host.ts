import type { Socket } from "node:net";
import { FRAME, type WorkerFrame } from "../../adapters/workers/frames.ts";
import { RemoteAnswerWire, RemoteRequest } from "../../adapters/workers/remote-wire.ts";
import { HttpAnswer, type AnswerFaults } from "../../answer/answer.ts";
import type { HeadMemo } from "../../wire.ts";
import { ALIVE, FrameConnection } from "./frame-connection.ts";
import type { AcceptedHello, Handshakes } from "./handshake.ts";
import { PacedAnswer, type FrameSender } from "./paced-answer.ts";
import type { HeadReader, ReadHead } from "./request-heads.ts";
import { readUpgradeRequest, upgradeResponse } from "./upgrade.ts";

/** Request of another hub. Requests with the same head share `memo`. */
export class FramedRequest extends RemoteRequest {
  readonly memo: HeadMemo;

  constructor({ head, memo }: ReadHead, body: Buffer) {
    super(head, body);
    this.memo = memo;
  }
}

/** Request that arrived on a connection of another hub. */
export interface HostedRequest {
  /** Id of the other hub. */
  readonly from: string;
  readonly head: ReadHead;
  readonly request: FramedRequest;
}

export interface FrameHostParts {
  readonly handshakes: Handshakes;
  readonly heads: HeadReader;
  readonly logger: AnswerFaults;
  /** Answers a request of another hub. */
  readonly serve: (request: HostedRequest, answer: HttpAnswer) => void;
}

/** Maximum number of connections of other hubs. */
const MAX_CONNECTIONS = 4096;
/** Maximum number of concurrent requests of one connection. */
export const MAX_EXCHANGES = 16_384;
/** Milliseconds within which the other hub must send the first record, which proves that it has the keys. */
const PROOF_MS = 5000;
/**
 * Milliseconds for which an unused connection of a leaving hub stays open. The other hub closes it earlier, when it
 * knows that this hub leaves. Until then its requests get `NOT_EXECUTED`; on a closed connection they would be lost.
 */
const LEAVE_MS = 2000;
/** Maximum number of bytes of that record, because a program that repeats a recorded hello may send any bytes. */
const MAX_PROOF_BYTES = 1024;
/**
 * Answer to a request that was not executed. It lacks `RELAY_HEADER`, so the other hub sends the request in another
 * way.
 */
const NOT_EXECUTED = JSON.stringify({ status: 421, headers: {} });

/** Accepts the connections of other hubs. */
export class FrameHost {
  readonly #parts: FrameHostParts;
  readonly #connections = new Set<HostedConnection>();
  #isLeaving = false;

  constructor(parts: FrameHostParts) {
    this.#parts = parts;
  }

  /** Takes over a connection if `bytes` are a valid request of another hub to open it. Otherwise returns false. */
  take(socket: Socket, bytes: Buffer): boolean {
    const hello = readUpgradeRequest(bytes);
    if (hello === undefined || this.#isLeaving || this.#connections.size >= MAX_CONNECTIONS) return false;
    const accepted = this.#parts.handshakes.accept(hello);
    if (!accepted) return false;
    socket.write(upgradeResponse(accepted.reply), "latin1");
    const connection = new HostedConnection(socket, accepted, this.#parts);
    this.#connections.add(connection);
    socket.once("close", () => this.#connections.delete(connection));
    socket.resume();
    return true;
  }

  /** Refuses new connections and requests. A connection closes after its running requests were answered. */
  leave(): void {
    this.#isLeaving = true;
    for (const connection of this.#connections) connection.leave();
  }

  close(): void {
    this.leave();
    for (const connection of this.#connections) connection.close();
  }
}

interface ServedExchange {
  readonly wire: RemoteAnswerWire;
  readonly answer: PacedAnswer;
  isOver: boolean;
}

/** Connection on which another hub sends requests. */
class HostedConnection {
  readonly #from: string;
  readonly #parts: FrameHostParts;
  readonly #connection: FrameConnection;
  readonly #served = new Map<number, ServedExchange>();
  /** Sends the frames of answers. No further requests are read while too many bytes wait. */
  readonly #answers: FrameSender = {
    send: (frame) => {
      this.#connection.send(frame);
      if (this.#connection.isFull) this.#connection.waitForRoom();
    },
  };
  #isProven = false;
  #isLeaving = false;
  #leaving: NodeJS.Timeout | undefined;

  constructor(socket: Socket, { from, keys }: AcceptedHello, parts: FrameHostParts) {
    this.#from = from;
    this.#parts = parts;
    const proof = setTimeout(() => this.#isProven || socket.destroy(), PROOF_MS).unref();
    this.#connection = new FrameConnection({
      socket,
      ownKey: keys.server,
      otherKey: keys.client,
      maxFirstBytes: MAX_PROOF_BYTES,
      onFrame: (frame) => this.#received(frame),
      onClosed: () => {
        clearTimeout(proof);
        this.#closed();
      },
    });
  }

  leave(): void {
    if (this.#isLeaving) return;
    this.#isLeaving = true;
    this.#connection.sendBare(FRAME.close);
    this.#endIfUnused();
  }

  close(): void {
    this.#connection.close();
  }

  #received({ type, exchange, head, body }: WorkerFrame): void {
    this.#isProven = true;
    if (type === FRAME.request) return this.#serve(exchange, head, body);
    if (type === ALIVE) return;
    const served = this.#served.get(exchange);
    if (!served) return;
    if (type === FRAME.gone) return this.#gone(exchange, served);
    if (type !== FRAME.taken) return;
    const bytes = Number(head);
    if (!served.isOver) served.wire.taken(bytes);
    served.answer.taken(bytes);
  }

  #serve(exchange: number, headText: string, body: Buffer): void {
    const connection = this.#connection;
    if (this.#isLeaving || this.#served.size >= MAX_EXCHANGES)
      return connection.send({ type: FRAME.answer, exchange, head: NOT_EXECUTED, body: "" });
    const paced = new PacedAnswer(this.#answers, exchange, () => this.#endIfOver(exchange));
    const wire = new RemoteAnswerWire(paced, exchange, () => this.#over(exchange));
    this.#served.set(exchange, { wire, answer: paced, isOver: false });
    const head = this.#parts.heads.read(headText);
    const request = new FramedRequest(head, body);
    this.#parts.serve({ from: this.#from, head, request }, new HttpAnswer(wire, this.#parts.logger));
  }

  #over(exchange: number): void {
    const served = this.#served.get(exchange);
    if (!served) return;
    served.isOver = true;
    this.#endIfOver(exchange);
  }

  /** Removes an exchange if its answer has ended and none of its frames wait. */
  #endIfOver(exchange: number): void {
    const served = this.#served.get(exchange);
    if (served?.isOver && !served.answer.isWaiting) this.#remove(exchange);
  }

  #gone(exchange: number, { wire, answer }: ServedExchange): void {
    answer.drop();
    wire.gone();
    this.#endIfOver(exchange);
  }

  #remove(exchange: number): void {
    this.#served.delete(exchange);
    this.#endIfUnused();
  }

  #endIfUnused(): void {
    if (!this.#isLeaving || this.#served.size > 0) return;
    clearTimeout(this.#leaving);
    this.#leaving = setTimeout(() => this.#connection.end(), LEAVE_MS).unref();
  }

  #closed(): void {
    clearTimeout(this.#leaving);
    for (const { wire, answer } of Array.from(this.#served.values())) {
      answer.drop();
      wire.gone();
    }
    this.#served.clear();
  }
}
