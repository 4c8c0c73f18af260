import { FRAME, type OutgoingFrame } from "../../adapters/workers/frames.ts";

export interface FrameSender {
  send(frame: OutgoingFrame): void;
}

/** Size of the pieces of a large answer. Pieces of several answers are sent in turn. */
const PIECE_BYTES = 64 * 1024;
/** Further pieces of an answer wait while at least this many of its sent bytes have not been read by the caller. */
const WINDOW_BYTES = 4 * PIECE_BYTES;

/**
 * Sends the frames of one answer. A large body is sent in pieces, and further pieces are sent when the caller has read
 * earlier ones, so that a large answer or a slow caller does not delay other answers of the connection.
 */
export class PacedAnswer {
  readonly #sender: FrameSender;
  readonly #exchange: number;
  readonly #onEmpty: () => void;
  #waiting: OutgoingFrame[] = [];
  /** Number of sent bytes that the caller has not read. */
  #openBytes = 0;

  /** `onEmpty` is called when the last waiting frame was sent. */
  constructor(sender: FrameSender, exchange: number, onEmpty: () => void) {
    this.#sender = sender;
    this.#exchange = exchange;
    this.#onEmpty = onEmpty;
  }

  /** True while frames wait. */
  get isWaiting(): boolean {
    return this.#waiting.length > 0;
  }

  /** Sends a frame that consists only of its type. */
  sendBare(type: number): void {
    this.send({ type, exchange: this.#exchange, head: "", body: "" });
  }

  /** Sends a frame without a body. */
  sendHead(type: number, exchange: number, head: string): void {
    this.send({ type, exchange, head, body: "" });
  }

  send(frame: OutgoingFrame): void {
    const { type, body } = frame;
    const isPiece = type === FRAME.piece;
    if (!this.isWaiting && body.length <= PIECE_BYTES / 3 && !(isPiece && this.#openBytes >= WINDOW_BYTES)) {
      if (isPiece) this.#openBytes += typeof body === "string" ? Buffer.byteLength(body) : body.length;
      return this.#sender.send(frame);
    }
    this.#addParts(frame);
    this.#sendWaiting();
  }

  /** Records that the caller has read this number of bytes. Sends waiting frames if they now fit. */
  taken(bytes: number): void {
    this.#openBytes -= bytes;
    if (!this.isWaiting) return;
    this.#sendWaiting();
    if (!this.isWaiting) this.#onEmpty();
  }

  /** Drops the waiting frames, because the caller has disconnected. */
  drop(): void {
    this.#waiting = [];
  }

  #addParts({ type, head, body }: OutgoingFrame): void {
    const exchange = this.#exchange;
    const add = (part: number, partHead: string, bytes: string | Uint8Array): void =>
      void this.#waiting.push({ type: part, exchange, head: partHead, body: bytes });
    if (type !== FRAME.piece && type !== FRAME.answer) return add(type, head, body);
    if (type === FRAME.answer) add(FRAME.begin, head, "");
    const bytes = bytesOf(body);
    for (let at = 0; at < bytes.length; at += PIECE_BYTES) add(FRAME.piece, "", bytes.subarray(at, at + PIECE_BYTES));
    if (type === FRAME.answer) add(FRAME.end, "", "");
  }

  #sendWaiting(): void {
    let sent = 0;
    for (const frame of this.#waiting) {
      if (frame.type === FRAME.piece && this.#openBytes >= WINDOW_BYTES) break;
      if (frame.type === FRAME.piece) this.#openBytes += frame.body.length;
      this.#sender.send(frame);
      sent += 1;
    }
    this.#waiting.splice(0, sent);
  }
}

function bytesOf(body: string | Uint8Array): Uint8Array {
  return typeof body === "string" ? Buffer.from(body) : body;
}
