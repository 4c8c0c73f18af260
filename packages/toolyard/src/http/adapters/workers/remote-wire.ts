import { tooLarge } from "../../request/body-refusals.ts";
import { Refusal } from "../../answer/refusal.ts";
import type { AnswerWire, HttpRequest, RawHeaders, RequestHeaders, WireEvents } from "../../wire.ts";
import type { Channel } from "./channel.ts";
import { FRAME } from "./frames.ts";
import type { WorkerAnswerHead, RequestHead } from "./messages.ts";

/** Number of unread bytes above which `write` returns false. */
const HIGH_WATER_BYTES = 16 * 1024;

const NO_BODY = Buffer.alloc(0);

/** Request that a worker has read and checked. */
export class RemoteRequest implements HttpRequest {
  readonly #head: RequestHead;
  #body: Buffer;

  constructor(head: RequestHead, body: Buffer) {
    this.#head = head;
    this.#body = body;
  }

  get method(): string {
    return this.#head.method;
  }

  get target(): string {
    return this.#head.target;
  }

  get headers(): RequestHeaders {
    return this.#head.headers;
  }

  get peerAddress(): string {
    return this.#head.remoteAddress;
  }

  get isSecure(): boolean {
    return this.#head.baseUrl.startsWith("https:");
  }

  header(name: string): string | undefined {
    const value = this.#head.headers[name];
    return typeof value === "object" ? value.join(", ") : value;
  }

  readBody(maxBytes: number): Promise<Buffer> {
    const { refusal } = this.#head;
    if (refusal) return Promise.reject(new Refusal(refusal.status, refusal.message, refusal.headers));
    const body = this.#body;
    // Releases the body's bytes, so that a long call does not keep them in memory.
    this.#body = NO_BODY;
    return body.length > maxBytes ? Promise.reject(tooLarge(maxBytes)) : Promise.resolve(body);
  }
}

/** Sender of the frames of an answer. */
type AnswerChannel = Pick<Channel, "send" | "sendHead" | "sendBare">;

/** Piece that the client has not read completely. */
interface WaitingPiece {
  /** Number of bytes of the answer up to the end of the piece. */
  readonly end: number;
  readonly onTaken: () => void;
}

/** Answer to a caller whose connection is in a worker, or in another hub. */
export class RemoteAnswerWire implements AnswerWire {
  events: WireEvents | undefined;
  /** Number of reports that the client has read something. Each report changes it. */
  sentBytes = 0;
  readonly #channel: AnswerChannel;
  readonly #exchange: number;
  readonly #onOver: () => void;
  readonly #headers: Record<string, string | string[]> = {};
  #status = 0;
  #isFlushed = false;
  #isEnded = false;
  #isGone = false;
  #isClosed = false;
  #needsDrain = false;
  #writtenBytes = 0;
  #takenBytes = 0;
  /** Pieces whose writer waits for the client. */
  #pieces: WaitingPiece[] = [];

  /** `onOver` is called once, when no frame will be sent or is expected any more. */
  constructor(channel: AnswerChannel, exchange: number, onOver: () => void) {
    this.#channel = channel;
    this.#exchange = exchange;
    this.#onOver = onOver;
  }

  get isGone(): boolean {
    return this.#isGone;
  }

  get waitingBytes(): number {
    return this.#writtenBytes - this.#takenBytes;
  }

  setHeader(name: string, value: string): void {
    const key = name.toLowerCase();
    // `set-cookie` is the only header that an answer may repeat as separate lines (RFC 6265 section 3), so it is stored
    // as a list.
    if (key === "set-cookie") this.#headers[key] = [this.#headers[key] ?? [], value].flat();
    else this.#headers[key] = value;
  }

  begin(status: number, headers: RawHeaders): void {
    this.#status = status;
    for (let at = 0; at < headers.length; at += 2) this.setHeader(headers[at]!, headers[at + 1]!);
  }

  flush(): void {
    if (this.#isFlushed || this.#isGone) return;
    this.#isFlushed = true;
    this.#channel.sendHead(FRAME.begin, this.#exchange, this.#head());
  }

  /** Writes a piece. Calls `onTaken` when the reports of the client include the whole piece. */
  write(piece: string | Uint8Array, onTaken?: () => void): boolean {
    this.flush();
    if (this.#isGone || this.#isEnded) return false;
    this.#writtenBytes += typeof piece === "string" ? Buffer.byteLength(piece) : piece.length;
    if (onTaken) this.#pieces.push({ end: this.#writtenBytes, onTaken });
    this.#channel.send({ type: FRAME.piece, exchange: this.#exchange, head: "", body: piece });
    this.#needsDrain = this.waitingBytes >= HIGH_WATER_BYTES;
    return !this.#needsDrain;
  }

  end(last: string | Uint8Array = ""): void {
    if (this.#isGone || this.#isEnded) return;
    this.#isEnded = true;
    if (!this.#isFlushed) {
      this.#channel.send({ type: FRAME.answer, exchange: this.#exchange, head: this.#head(), body: last });
    } else {
      if (last.length > 0) this.#channel.send({ type: FRAME.piece, exchange: this.#exchange, head: "", body: last });
      this.#channel.sendBare(FRAME.end, this.#exchange);
    }
    // The exchange ends here, because the worker watches for a client that does not read.
    process.nextTick(() => this.#close());
  }

  cut(): void {
    if (this.#isGone || this.#isClosed) return;
    if (!this.#isEnded) this.#channel.sendBare(FRAME.cut, this.#exchange);
    this.gone();
  }

  /** Records that the client has read a piece, or with 0 a part of a piece. */
  taken(bytes: number): void {
    this.sentBytes += 1;
    this.#takenBytes += bytes;
    if (this.#pieces.length > 0) this.#reportTaken();
    if (!this.#needsDrain || this.waitingBytes > 0) return;
    this.#needsDrain = false;
    this.events?.drained();
  }

  /** Records that the client has disconnected. */
  gone(): void {
    if (this.#isClosed || this.#isGone) return;
    this.#isGone = true;
    process.nextTick(() => this.#close());
  }

  #reportTaken(): void {
    const firstWaiting = this.#pieces.findIndex(({ end }) => end > this.#takenBytes);
    const taken = this.#pieces.splice(0, firstWaiting === -1 ? this.#pieces.length : firstWaiting);
    for (const { onTaken } of taken) onTaken();
  }

  #close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#pieces = [];
    this.#onOver();
    this.events?.closed();
  }

  #head(): string {
    return JSON.stringify({ status: this.#status, headers: this.#headers } satisfies WorkerAnswerHead);
  }
}
