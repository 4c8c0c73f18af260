import type { Socket } from "node:net";
import { Silence } from "../../../../core/timing/idle-timer.ts";
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

/** The listener that serves the requests of a connection. */
export interface PlainOwner {
  /** Limit of bytes that connections hold. */
  readonly bodies: BodyBudget;
  serve(wire: PlainWire): void;
  /** The answer was sent, or the client disconnected. */
  over(wire: PlainWire): void;
  /** Runs `begin` in a later turn, in which other connections have theirs. */
  inTurn(begin: () => void): void;
  /** Takes over a connection with a request that is not plain; `bytes` were read from it. */
  handOver(socket: Socket, bytes: Buffer): void;
}

/** As Node's own server words it. */
const TIMEOUT_ANSWER = "HTTP/1.1 408 Request Timeout\r\nConnection: close\r\n\r\n";

/**
 * Bytes that may wait: behind a request that is not answered, or of a body that its handler has not asked for. The
 * connection is read up to this limit, because a disconnection is noticed only by reading.
 */
const MAX_HELD_BYTES = 16 * 1024;

/**
 * A connection with plain requests: a whole head in one piece, a body of known length, one request after another.
 * Nearly all requests of programs are plain, and cost less here than in Node's server. The first request that is not
 * plain and all after it are handed over to Node's server unchanged.
 */
export class PlainConnection implements WireConnection {
  readonly socket: Socket;
  readonly limits: PlainLimits;
  readonly onThrough: (error?: Error | null) => void;
  readonly #owner: PlainOwner;
  readonly #heads: PlainHeadReader;
  readonly #silence: Silence;
  readonly #onData = (chunk: Buffer): void => this.#came(chunk);
  readonly #onEnd = (): void => void this.socket.end();
  readonly #onClose = (): void => this.#closed();
  #wire: PlainWire | undefined;
  /** The body of the last request, while it is arriving. */
  #body: IncomingBody | undefined;
  /** What came behind the request that is not answered yet. */
  #held: Buffer | undefined;
  /** A held request waits for its turn. */
  #isQueued = false;
  /** It is paused until its next turn. */
  #isPaced = false;
  /** Counts held bytes; made when there are some. */
  #account: ArrivingBytes | undefined;
  #isUsed = false;

  /** Reads a connection from which nothing was read yet. */
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
    this.#silence = new Silence(() => this.#onSilence());
    // What could not be written ends the connection, which reports it.
    this.onThrough = (error) => error ?? this.#through();
  }

  #came(chunk: Buffer): void {
    if (this.#body) this.#bodyCame(this.#body, chunk);
    else if (this.#wire || this.#isQueued) this.#hold(this.#held ? Buffer.concat([this.#held, chunk]) : chunk);
    else this.#take(chunk);
  }

  #bodyCame(body: IncomingBody, chunk: Buffer): void {
    const own = body.take(chunk);
    if (body.isWhole) return this.#bodyIsWhole(own < chunk.length ? chunk.subarray(own) : undefined);
    if (chunk.length >= PACED_BYTES) this.#pace();
    this.#countHeld();
  }

  /** One piece in a turn: a connection is otherwise read as long as there is more, while all others wait. */
  #pace(): void {
    this.socket.pause();
    if (this.#isPaced) return;
    this.#isPaced = true;
    this.#owner.inTurn(() => {
      this.#isPaced = false;
      this.#countHeld();
    });
  }

  /** `rest` came in one piece with the end of the body. */
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

  /** Counts what waits, and reads on only below the limit. */
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

  /** Serves a request whose body is still arriving. All of it must be here in the time of a request. */
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

  /** The answer was sent. */
  #through(): void {
    const wire = this.#wire;
    if (!wire || this.socket.destroyed) return;
    this.#wire = undefined;
    if (wire.closes) this.socket.destroySoon();
    wire.over();
    this.#owner.over(wire);
    if (this.socket.destroyed || this.socket.writableEnded) return;
    // The rest of a body that was not read is dropped as it arrives.
    if (this.#body) this.#body.drop();
    else this.#next();
  }

  /** Waits for the next request, or has the one that came already begin in its turn. */
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

  /** Node's server has the connection from here on, with what was read from it. */
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

  /** Gives up the request that is not answered. */
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
  // What breaks a connection closes it.
}
