import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { Duplex } from "node:stream";
import type { ArrivingBytes } from "../../request/body-budget.ts";
import { PACED_BYTES, SLICE_MS, type TurnQueue } from "./turn-queue.ts";

/** Node's parser makes objects for all requests of a piece at once, so a piece is small: at most ten requests. */
const HEAD_PIECE_BYTES = 256;
/** While a body is read. Other requests may follow it in the same piece. */
const BODY_PIECE_BYTES = 1024;
/** Bytes that wait for the parser before the connection is paused. */
const MAX_HELD_BYTES = 16 * 1024;

type WriteCallback = (error?: Error | null) => void;

interface WrittenChunk {
  readonly chunk: string | Buffer;
  readonly encoding: BufferEncoding;
}

export interface PacedSocketParts {
  readonly socket: Socket;
  /** What was read from it already. */
  readonly bytes: Buffer;
  readonly queue: TurnQueue;
  /** Counts the bytes that wait. */
  readonly account: ArrivingBytes;
}

/**
 * A connection as Node's own server is given it. The server's parser takes a whole chunk, and makes a request and a
 * response, or a piece of a body, of every few bytes in it. Here it gets small pieces:
 *
 * - The next piece follows when every request in the piece before it is answered, so pipelined requests are served one
 *   in a turn, and their memory is bounded.
 * - A connection is parsed for `SLICE_MS` in a turn, so a body in chunks of one byte does not keep others waiting.
 */
export class PacedSocket extends Duplex {
  readonly raw: Socket;
  readonly #queue: TurnQueue;
  readonly #account: ArrivingBytes;
  /** Present, with any value, if the connection is encrypted: `request.socket.encrypted` is read by that. */
  declare readonly encrypted?: true;
  #held: Buffer;
  #hasEnded = false;
  #canPush = true;
  /** It is in the queue to be parsed, and not read until then. */
  #isQueued = false;
  /** The request that was parsed last, while it is not answered. */
  #last: IncomingMessage | undefined;
  readonly #waiting: (() => void)[] = [];

  constructor({ socket, bytes, queue, account }: PacedSocketParts) {
    super({ allowHalfOpen: true, decodeStrings: false });
    this.raw = socket;
    this.#held = bytes;
    this.#queue = queue;
    this.#account = account;
    account.resize(bytes.length);
    if ("encrypted" in socket) Object.defineProperty(this, "encrypted", { value: true });
    socket
      .on("data", (chunk: Buffer) => this.#came(chunk))
      .on("end", () => this.#ended())
      .on("error", (error) => this.destroy(error))
      .on("close", () => this.destroy())
      .on("timeout", () => this.emit("timeout"));
  }

  get remoteAddress(): string | undefined {
    return this.raw.remoteAddress;
  }

  /** Begins to parse what was read. Call it when the server has its listeners. */
  start(): void {
    this.#feedSoon();
  }

  /** Serves a request of this connection when those before it are answered. */
  enqueue(request: IncomingMessage, response: ServerResponse, serve: () => void): void {
    const isFree = this.#last === undefined;
    this.#last = request;
    response.once("close", () => this.#answered(request));
    if (isFree) serve();
    else this.#waiting.push(serve);
  }

  setTimeout(ms: number, onTimeout?: () => void): this {
    this.raw.setTimeout(ms, onTimeout);
    return this;
  }

  setNoDelay(): this {
    return this;
  }

  setKeepAlive(): this {
    return this;
  }

  /** Ends the connection after what was written. */
  destroySoon(): void {
    if (this.writableFinished) return void this.destroy();
    this.once("finish", () => this.raw.destroySoon());
    this.end();
  }

  override _read(): void {
    this.#canPush = true;
    // A piece that is pushed from within `_read` is parsed later, when it is too late to stop at a request.
    if (this.#held.length > 0 || this.#hasEnded) process.nextTick(() => this.#feedSoon());
  }

  override _write(chunk: string | Buffer, encoding: BufferEncoding, done: WriteCallback): void {
    if (typeof chunk === "string") this.raw.write(chunk, encoding, done);
    else this.raw.write(chunk, done);
  }

  override _writev(chunks: readonly WrittenChunk[], done: WriteCallback): void {
    this.raw.cork();
    for (const [at, { chunk, encoding }] of chunks.entries())
      this._write(chunk, encoding, at === chunks.length - 1 ? done : () => {});
    this.raw.uncork();
  }

  override _final(done: WriteCallback): void {
    this.raw.end(() => done());
  }

  override _destroy(error: Error | null, done: WriteCallback): void {
    this.#held = NOTHING;
    this.#waiting.length = 0;
    this.#account.close();
    this.raw.destroy();
    done(error);
  }

  get #isFull(): boolean {
    return this.#held.length > MAX_HELD_BYTES;
  }

  #came(chunk: Buffer): void {
    this.#hold(this.#held.length === 0 ? chunk : Buffer.concat([this.#held, chunk]));
    // A connection is otherwise read as long as there is more, while all others wait.
    if (chunk.length >= PACED_BYTES) this.#feedLater();
    else this.#feedSoon();
    if (this.#isFull || this.#isQueued) this.raw.pause();
  }

  #feedSoon(): void {
    if (this.#isQueued) return;
    this.#isQueued = true;
    this.#queue.runSoon(this.#feedInTurn);
  }

  #feedLater(): void {
    if (this.#isQueued) return;
    this.#isQueued = true;
    this.#queue.add(this.#feedInTurn);
  }

  readonly #feedInTurn = (): void => {
    this.#isQueued = false;
    this.#feed();
  };

  #hold(bytes: Buffer): void {
    this.#held = bytes;
    this.#account.resize(bytes.length);
  }

  #ended(): void {
    this.#hasEnded = true;
    // The server gives up what it has not answered when the client ends its side, as for any connection.
    if (this.#isBusy) this.#held = NOTHING;
    this.#feedSoon();
  }

  #answered(request: IncomingMessage): void {
    if (this.#last === request) this.#last = undefined;
    const next = this.#waiting.shift();
    if (next) return this.#queue.add(() => this.destroyed || next());
    if (this.#held.length > 0 || this.#hasEnded) this.#feedLater();
  }

  /** Gives the parser one piece after another, until a request is whole or the time is over. */
  #feed(): void {
    const until = performance.now() + SLICE_MS;
    while (this.#canParse && performance.now() < until) {
      const piece = this.#held.subarray(0, this.#last ? BODY_PIECE_BYTES : HEAD_PIECE_BYTES);
      this.#held = this.#held.subarray(piece.length);
      this.#canPush = this.push(piece);
    }
    if (this.destroyed) return;
    this.#hold(this.#held);
    if (this.#canParse) return this.#feedLater();
    if (this.#hasEnded && this.#held.length === 0 && !this.readableEnded) this.push(null);
    else this.#readOn();
  }

  #readOn(): void {
    if (!this.#isFull && !this.#isQueued) this.raw.resume();
  }

  get #canParse(): boolean {
    return this.#canPush && this.#held.length > 0 && !this.#isBusy && !this.destroyed;
  }

  /** A request is whole and not answered; what follows is another one. */
  get #isBusy(): boolean {
    return this.#last?.complete === true;
  }
}

const NOTHING = Buffer.alloc(0);
