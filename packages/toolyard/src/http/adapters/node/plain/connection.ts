import type { Socket } from "node:net";
import { IdleTimer } from "../../../../core/timing/idle-timer.ts";
import type { ArrivingBytes, BodyBudget } from "../../../request/body-budget.ts";
import { PACED_BYTES } from "../turn-queue.ts";
import { IncomingBody } from "./incoming-body.ts";
import { PlainHeadReader, type PlainHead } from "./request-head.ts";
import { PlainWire, type WireConnection } from "./wire.ts";

export interface PlainLimits {
  readonly maxHeaderBytes: number;
  readonly maxBodyBytes: number;
  readonly requestTimeoutMs: number;
  readonly idleTimeoutMs: number;
  readonly streamStallMs: number;
}

/** Listener that serves the requests of a connection. */
export interface PlainOwner {
  /** Limit of the bytes that connections hold. */
  readonly bodies: BodyBudget;
  serve(wire: PlainWire): void;
  /** Called when the answer was sent, or the client disconnected. */
  over(wire: PlainWire): void;
  /** Runs `begin` in a later turn of the event loop, in turn with requests of other connections. */
  inTurn(begin: () => void): void;
  /** Takes over a connection whose next request is not plain. `bytes` were read from it. */
  handOver(socket: Socket, bytes: Buffer): void;
}

/** Answer to a request that did not arrive in time, with the same text as that of Node's own server. */
const TIMEOUT_ANSWER = "HTTP/1.1 408 Request Timeout\r\nConnection: close\r\n\r\n";

/**
 * Maximum number of bytes that wait: after an unanswered request, or of a body that its handler has not read. The
 * connection is read up to this limit, because only reading detects a disconnection.
 */
const MAX_HELD_BYTES = 16 * 1024;

/**
 * Connection with plain requests: a complete head in one chunk, a body of known length, one request after another.
 * Nearly all requests of programs are plain, and cost less here than in Node's server. The first request that is not
 * plain, and all requests after it, are passed to Node's server unchanged.
 */
export class PlainConnection implements WireConnection {
  readonly socket: Socket;
  readonly limits: PlainLimits;
  readonly #owner: PlainOwner;
  readonly #heads: PlainHeadReader;
  readonly #silence: IdleTimer;
  readonly #onEnd = (): void => void this.socket.end();
  readonly #onClose = (): void => this.#closed();
  #wire: PlainWire | undefined;
  /** Body of the last request, while it is arriving. */
  #body: IncomingBody | undefined;
  /** Bytes after the request that is not answered yet. */
  #held: Buffer | undefined;
  /** True while a held request waits for its turn. */
  #isQueued = false;
  /** True while the connection is paused until its next turn of the event loop. */
  #isPaced = false;
  /** Counts the held bytes. Created on first use. */
  #account: ArrivingBytes | undefined;
  #isUsed = false;

  /** Starts to read a new connection. */
  static begin(socket: Socket, limits: PlainLimits, owner: PlainOwner): void {
    const connection = new PlainConnection(socket, limits, owner);
    socket
      .on("data", connection.#onData)
      .on("end", connection.#onEnd)
      .on("error", ignore)
      .on("close", connection.#onClose);
    connection.#silence.expect(limits.requestTimeoutMs);
    socket.resume();
  }

  private constructor(socket: Socket, limits: PlainLimits, owner: PlainOwner) {
    this.socket = socket;
    this.limits = limits;
    this.#owner = owner;
    this.#heads = new PlainHeadReader(limits.maxHeaderBytes);
    this.#silence = new IdleTimer(() => this.#onSilence());
  }

  readonly #onData = (chunk: Buffer): void => {
    if (this.#body) this.#bodyCame(this.#body, chunk);
    else if (this.#wire || this.#isQueued) this.#hold(this.#held ? Buffer.concat([this.#held, chunk]) : chunk);
    else this.#take(chunk);
  };

  #bodyCame(body: IncomingBody, chunk: Buffer): void {
    const own = body.take(chunk);
    if (body.isWhole) return this.#bodyIsWhole(own < chunk.length ? chunk.subarray(own) : undefined);
    if (chunk.length >= PACED_BYTES) this.#pace();
    this.#countHeld();
  }

  /**
   * Limits reading to one chunk per turn of the event loop. Otherwise one connection would be read as long as its data
   * arrive, while all others wait.
   */
  #pace(): void {
    this.socket.pause();
    if (this.#isPaced) return;
    this.#isPaced = true;
    this.#owner.inTurn(() => {
      this.#isPaced = false;
      this.#countHeld();
    });
  }

  /** Called when the body of a request is complete. `rest`: bytes that follow the body in the same chunk. */
  #bodyIsWhole(rest: Buffer | undefined): void {
    const isAnswered = this.#wire === undefined;
    this.#body = undefined;
    this.#silence.end();
    if (rest) this.#hold(rest);
    else this.#countHeld();
    if (isAnswered) this.#next();
  }

  #hold(bytes: Buffer | undefined): void {
    this.#held = bytes;
    this.#countHeld();
  }

  /** Counts the waiting bytes. Stops reading while they exceed the limit. */
  #countHeld(): void {
    const { socket } = this;
    const bytes = (this.#held?.length ?? 0) + (this.#body?.unreadBytes ?? 0);
    if (bytes > 0)
      this.#account ??= this.#owner.bodies.open(`address ${socket.remoteAddress ?? ""}`, () => socket.destroy());
    this.#account?.resize(bytes);
    if (bytes > MAX_HELD_BYTES) socket.pause();
    else if (!this.#isPaced && socket.isPaused()) socket.resume();
  }

  #take(bytes: Buffer): void {
    const head = this.#heads.read(bytes);
    if (!head || head.bodyBytes > this.limits.maxBodyBytes) return this.#handOver(bytes);
    const start = this.#heads.end;
    const end = start + head.bodyBytes;
    if (end > bytes.length) return this.#serveEarly(head, bytes.subarray(start));
    if (end < bytes.length) this.#hold(bytes.subarray(end));
    this.#silence.end();
    this.#serve(head, bytes.subarray(start, end));
  }

  /** Serves a request whose body is still arriving. The body must be complete within the request timeout. */
  #serveEarly(head: PlainHead, first: Buffer): void {
    const body = new IncomingBody(head.bodyBytes, () => this.#countHeld());
    if (first.length > 0) body.take(first);
    this.#body = body;
    this.#silence.expect(this.limits.requestTimeoutMs);
    this.#serve(head, body);
  }

  #serve(head: PlainHead, body: Buffer | IncomingBody): void {
    this.#isUsed = true;
    this.#wire = new PlainWire(head, body, this);
    this.#owner.serve(this.#wire);
  }

  /** Called when the answer of the current request was sent. A failed write closes the connection. */
  readonly onThrough = (error?: Error | null): void => {
    const wire = this.#wire;
    if (error || !wire || this.socket.destroyed) return;
    this.#wire = undefined;
    if (wire.closes) this.socket.destroySoon();
    wire.over();
    this.#owner.over(wire);
    if (this.socket.destroyed || this.socket.writableEnded) return;
    // The unread rest of a body is dropped as it arrives.
    if (this.#body) this.#body.drop();
    else this.#next();
  };

  /** Waits for the next request, or schedules one that has already arrived. */
  #next(): void {
    if (!this.#held) return this.#silence.expect(this.limits.idleTimeoutMs);
    this.#isQueued = true;
    this.#owner.inTurn(() => this.#takeHeld());
  }

  #takeHeld(): void {
    const held = this.#held;
    this.#isQueued = false;
    if (!held || this.socket.destroyed || this.socket.writableEnded) return;
    this.#hold(undefined);
    this.#take(held);
  }

  /** Passes the connection to Node's server, together with the bytes that were read from it. */
  #handOver(bytes: Buffer): void {
    const { socket } = this;
    this.#silence.close();
    this.#account?.close();
    socket.off("data", this.#onData).off("end", this.#onEnd).off("error", ignore).off("close", this.#onClose);
    socket.pause();
    this.#owner.handOver(socket, bytes);
  }

  #onSilence(): void {
    const { socket } = this;
    if (this.#wire && !this.#body) return;
    const owesAnswer = this.#wire ? !this.#wire.isBegun : !this.#isUsed;
    this.#endRequest();
    if (owesAnswer) socket.write(TIMEOUT_ANSWER, "latin1");
    socket.destroySoon();
  }

  #closed(): void {
    this.#silence.close();
    this.#account?.close();
    this.#held = undefined;
    this.#endRequest();
  }

  /** Cancels the unanswered request. */
  #endRequest(): void {
    const [wire, body] = [this.#wire, this.#body];
    this.#wire = undefined;
    this.#body = undefined;
    wire?.over();
    body?.end();
    if (wire) this.#owner.over(wire);
  }
}

function ignore(): void {
  // The error is not handled here, because `close` follows it.
}
