import type { Socket } from "node:net";
import { tooLarge } from "../../../request/body-refusals.ts";
import type {
  AnswerWire,
  BodyAccounts,
  HeadMemo,
  HttpRequest,
  RawHeaders,
  RequestHeaders,
  WireEvents,
} from "../../../wire.ts";
import { DrainWatch } from "../drain-watch.ts";
import { ReaderWatch, sentBytes } from "../reader-watch.ts";
import { answerHead, type AnswerFraming } from "./answer-head.ts";
import { IncomingBody } from "./incoming-body.ts";
import type { PlainHead } from "./request-head.ts";

/** Connection of a request. */
export interface WireConnection {
  readonly socket: Socket;
  readonly limits: {
    /** Milliseconds for which an idle connection is kept. */
    readonly idleTimeoutMs: number;
    /** Milliseconds for which a caller may leave a complete answer unread. */
    readonly streamStallMs: number;
  };
  /** Called after the answer was sent, or after sending failed. */
  readonly onThrough: (error?: Error | null) => void;
}

const LAST_CHUNK = "0\r\n\r\n";

/** Plain request and its answer, which is written directly to the connection. */
export class PlainWire implements HttpRequest, AnswerWire {
  events: WireEvents | undefined;
  /** True if the connection ends with this answer. */
  closes = false;
  readonly method: string;
  readonly socket: Socket;
  readonly memo: HeadMemo;
  readonly #head: PlainHead;
  #body: Buffer | IncomingBody;
  readonly #connection: WireConnection;
  /** Headers set with `setHeader` before the head is written. */
  #earlier: string[] = NO_HEADERS;
  /** Head that waits for the first piece of the body. */
  #waiting = "";
  #framing: AnswerFraming | undefined;
  #isEnded = false;
  /** True when this request no longer uses the connection. */
  #isOver = false;
  #drain: DrainWatch | undefined;
  #reader: ReaderWatch | undefined;

  constructor(head: PlainHead, body: Buffer | IncomingBody, connection: WireConnection) {
    this.#head = head;
    this.method = head.method;
    this.socket = connection.socket;
    this.memo = head.memo;
    this.#body = body;
    this.#connection = connection;
  }

  get target(): string {
    return this.#head.target;
  }

  get headers(): RequestHeaders {
    return this.#head.headers;
  }

  get peerAddress(): string {
    return this.socket.remoteAddress ?? "";
  }

  get isSecure(): boolean {
    return "encrypted" in this.socket;
  }

  get connection(): object {
    return this.socket;
  }

  get isGone(): boolean {
    return this.#isOver || this.socket.destroyed;
  }

  /** True after the head was passed to the connection. */
  get isBegun(): boolean {
    return this.#framing !== undefined;
  }

  get waitingBytes(): number {
    return this.socket.writableLength;
  }

  get sentBytes(): number {
    return sentBytes(this.socket);
  }

  header(name: string): string | undefined {
    return this.#head.headers[name] as string | undefined;
  }

  readBody(maxBytes: number, accounts: BodyAccounts): Buffer | Promise<Buffer> {
    const body = this.#body;
    // Releases the body's bytes, so that a long call does not keep them in memory.
    this.#body = NO_BODY;
    if (this.#head.bodyBytes > maxBytes) throw tooLarge(maxBytes);
    return body instanceof IncomingBody ? body.read(accounts) : body;
  }

  setHeader(name: string, value: string): void {
    const lower = name.toLowerCase();
    if (this.#earlier === NO_HEADERS) this.#earlier = [];
    const at = this.#earlier.findIndex((one, index) => index % 2 === 0 && one.toLowerCase() === lower);
    if (at === -1) this.#earlier.push(name, value);
    else this.#earlier[at + 1] = value;
  }

  begin(status: number, headers: RawHeaders): void {
    const { idleTimeoutMs: idleMs } = this.#connection.limits;
    const { text, framing, closes } = answerHead(
      status,
      { earlier: this.#earlier, headers },
      { closes: this.closes, idleMs },
    );
    this.#waiting = text;
    this.#framing = framing;
    this.closes = closes;
  }

  flush(): void {
    if (this.#waiting !== "") this.#send("", "latin1");
  }

  write(piece: string | Uint8Array, onTaken?: () => void): boolean {
    if (this.#isEnded) return true;
    this.#cork();
    const isEnough = !(typeof piece === "string" ? this.#text(piece, onTaken) : this.#bytes(piece, onTaken));
    if (isEnough) (this.#drain ??= new DrainWatch()).wait(this.socket, () => this.events?.drained());
    return !isEnough;
  }

  end(last: string | Uint8Array = "", encoding: "latin1" | "utf8" = "utf8"): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    const { onThrough } = this.#connection;
    const isChunked = this.#framing === "chunks";
    if (this.#framing === "none" || last.length === 0) {
      this.#send(isChunked ? LAST_CHUNK : "", "latin1", onThrough);
    } else if (typeof last === "string") {
      this.#send(isChunked ? `${chunkSize(last, encoding)}${last}\r\n${LAST_CHUNK}` : last, encoding, onThrough);
    } else {
      this.#cork();
      this.#bytes(last);
      this.#send(isChunked ? LAST_CHUNK : "", "latin1", onThrough);
    }
    if (this.socket.writableCorked > 0) this.socket.uncork();
    if (this.socket.writableLength > 0) this.#watchReader();
  }

  cut(): void {
    if (!this.#isOver) this.socket.destroy();
  }

  /** Adds a header which tells the caller that the connection ends with this answer. */
  endConnectionAfter(): void {
    this.closes = true;
  }

  /** Called when the answer was sent, or the caller disconnected. */
  over(): void {
    this.#isEnded = true;
    this.#isOver = true;
    this.#reader?.stop();
    this.events?.closed();
  }

  #text(piece: string, onTaken?: () => void): boolean {
    if (piece === "" || this.#framing === "none") return this.#send("", "latin1", onTaken);
    const isChunked = this.#framing === "chunks";
    return this.#send(isChunked ? `${chunkSize(piece, "utf8")}${piece}\r\n` : piece, "utf8", onTaken);
  }

  #bytes(piece: Uint8Array, onTaken?: () => void): boolean {
    if (piece.length === 0 || this.#framing === "none") return this.#send("", "latin1", onTaken);
    if (this.#framing !== "chunks") {
      this.#send("", "latin1");
      return this.socket.write(piece, onTaken);
    }
    this.#send(`${piece.length.toString(16)}\r\n`, "latin1");
    this.socket.write(piece);
    return this.socket.write("\r\n", "latin1", onTaken);
  }

  /** Writes a text, together with a waiting head if both have the same encoding. */
  #send(text: string, encoding: "latin1" | "utf8", onTaken?: () => void): boolean {
    const { socket } = this;
    const head = this.#waiting;
    this.#waiting = "";
    if (head !== "" && encoding === "utf8" && BEYOND_ASCII.test(head)) {
      this.#cork();
      socket.write(head, "latin1");
      return socket.write(text, encoding, onTaken);
    }
    const all = head + text;
    if (all === "" && onTaken === undefined) return !socket.writableNeedDrain;
    return socket.write(all, encoding, onTaken);
  }

  /** Collects the pieces of one turn of the event loop, so that they are sent together. */
  #cork(): void {
    const { socket } = this;
    if (socket.writableCorked > 0) return;
    socket.cork();
    process.nextTick(uncork, socket);
  }

  /** Watches the reader: a client that does not read its answer must not keep it in memory without limit. */
  #watchReader(): void {
    this.#reader = new ReaderWatch();
    this.#reader.start(this.socket, this.#connection.limits.streamStallMs);
  }
}

const NO_HEADERS: string[] = [];
const NO_BODY = Buffer.alloc(0);
const BEYOND_ASCII = /[\x80-\xff]/;

function chunkSize(text: string, encoding: "latin1" | "utf8"): string {
  return `${Buffer.byteLength(text, encoding).toString(16)}\r\n`;
}

function uncork(socket: Socket): void {
  if (socket.writableCorked > 0) socket.uncork();
}
