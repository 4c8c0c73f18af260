import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { Duplex } from "node:stream";
import type { ArrivingBytes } from "../../request/body-budget.ts";
import { PACED_BYTES, SLICE_MS, type TurnQueue } from "./turn-queue.ts";

/**
 * Size of a chunk of heads. Node's parser creates objects for all requests in a chunk, so chunks are small: at most ten
 * requests.
 */
const HEAD_PIECE_BYTES = 256;
/** Size of a chunk of a body. Further requests may follow in the same chunk. */
const BODY_PIECE_BYTES = 1024;
/** Maximum number of bytes that wait for the parser. Above it, the connection is paused. */
const MAX_HELD_BYTES = 16 * 1024;

type WriteCallback = (error?: Error | null) => void;

interface WrittenChunk {
  readonly chunk: string | Buffer;
  readonly encoding: BufferEncoding;
}

export interface PacedSocketParts {
  readonly socket: Socket;
  /** Bytes that were already read from the connection. */
  readonly bytes: Buffer;
  readonly queue: TurnQueue;
  /** Count of the bytes that wait for the parser. */
  readonly account: ArrivingBytes;
}

/**
 * Connection for Node's own server. The server's parser processes a whole chunk, and creates objects for every few
 * bytes: a request and a response, or a piece of a body. This class passes small chunks to the parser:
 *
 * - The next chunk follows after every request in the previous one was answered. So pipelined requests are served one
 * per turn, and their memory is limited.
 * - A connection is parsed for at most `SLICE_MS` per turn, so that a body in chunks of one byte does not delay other
 * connections.
 */
export class PacedSocket extends Duplex {
  readonly raw: Socket;
  readonly #queue: TurnQueue;
  readonly #account: ArrivingBytes;
  /** Present if the connection is encrypted: `request.socket.encrypted` tests its presence. */
  declare readonly encrypted?: true;
  #held: Buffer;
  #hasEnded = false;
  #canPush = true;
  /** True while the connection waits in the queue for parsing. It is not read until then. */
  #isQueued = false;
  /** Last parsed request, until it is answered. */
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

  /** Starts to parse the bytes that were read. Must be called after the server has added its listeners. */
  start(): void {
    this.#feedSoon();
  }

  /** Serves a request of this connection after the earlier ones were answered. */
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

  /** Ends the connection after pending writes. */
  destroySoon(): void {
    if (this.writableFinished) return void this.destroy();
    this.once("finish", () => this.raw.destroySoon());
    this.end();
  }

  override _read(): void {
    this.#canPush = true;
    // A chunk must not be pushed inside `_read`: the parser would read it later, and could not be stopped after a
    // request.
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
    // A large chunk is parsed in a later turn. Otherwise one connection would be read as long as its data arrive, while
    // all others wait.
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
    // When the client ends its side, the server cancels unanswered requests as for any connection. The held bytes are
    // then not needed.
    if (this.#isBusy) this.#held = NOTHING;
    this.#feedSoon();
  }

  #answered(request: IncomingMessage): void {
    if (this.#last === request) this.#last = undefined;
    const next = this.#waiting.shift();
    if (next) return this.#queue.add(() => this.destroyed || next());
    if (this.#held.length > 0 || this.#hasEnded) this.#feedLater();
  }

  /** Passes chunks to the parser until a request is complete or the time slice is over. */
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

  /** True while a complete request is not answered. The following bytes belong to another request. */
  get #isBusy(): boolean {
    return this.#last?.complete === true;
  }
}

const NOTHING = Buffer.alloc(0);
