import type { Socket } from "node:net";
import { sentBytes } from "../../adapters/node/reader-watch.ts";
import { FrameDecoder, type OutgoingFrame, type WorkerFrame } from "../../adapters/workers/frames.ts";
import { MAX_RECORD_BYTES, RecordReader, RecordWriter } from "./records.ts";

/** Type of the frame by which a hub without other frames shows that it is alive. It has no content. */
export const ALIVE = 60;

/** Maximum number of bytes of one frame's head and body. */
export const MAX_FRAME_BYTES = MAX_RECORD_BYTES / 2;
/** Number of bytes of frames at which a record is complete. Its last frame may exceed this number. */
const RECORD_BYTES = MAX_RECORD_BYTES / 4;
/**
 * Number of bytes that wait for the other hub, above which this hub sends it no further requests, and stops reading its
 * frames while answering.
 */
const MAX_WAITING_BYTES = 16 * 1024 * 1024;
/**
 * Milliseconds between two checks of a connection. A hub that has sent nothing since the previous check sends an
 * `ALIVE` frame.
 */
const CHECK_MS = 2000;
/**
 * Number of consecutive checks without received data after which the connection is closed. While this hub does not read
 * from the connection, the other hub must receive data instead.
 */
const MAX_SILENT_CHECKS = 5;

export interface FrameConnectionParts {
  readonly socket: Socket;
  /** Key of the records that this hub sends. */
  readonly ownKey: Buffer;
  /** Key of the records that the other hub sends. */
  readonly otherKey: Buffer;
  /** Maximum number of bytes of the first record of the other hub. @default that of every record */
  readonly maxFirstBytes?: number;
  readonly onFrame: (frame: WorkerFrame) => void;
  /**
   * Called once after the connection was closed. `unsent`: frames that were not passed to the operating system, so that
   * the other hub cannot have received them.
   */
  readonly onClosed: (unsent: readonly OutgoingFrame[]) => void;
}

/**
 * Authenticated connection between two hubs. Frames of one turn of the event loop are sent together as one record. A
 * connection on which nothing arrives for ten seconds is closed, so that a failure of the other machine is detected.
 */
export class FrameConnection {
  readonly #parts: FrameConnectionParts;
  readonly #writer: RecordWriter;
  readonly #timer: NodeJS.Timeout;
  #queue: OutgoingFrame[] = [];
  #isOpen = true;
  #hasSent = false;
  #hasReceived = true;
  #sentBytes = 0;
  #silentChecks = 0;

  constructor(parts: FrameConnectionParts) {
    this.#parts = parts;
    const { socket, ownKey, otherKey, maxFirstBytes } = parts;
    this.#writer = new RecordWriter(ownKey);
    const reader = new RecordReader(otherKey, maxFirstBytes);
    socket.setNoDelay(true);
    socket.on("data", (chunk: Buffer) => this.#received(chunk, reader));
    // The error is ignored, because `close` reports the end of the connection.
    socket.on("error", () => {});
    socket.once("end", () => this.close());
    socket.once("close", () => this.#closed());
    this.#timer = setInterval(() => this.#check(), CHECK_MS);
    this.#timer.unref();
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** True while more than `MAX_WAITING_BYTES` wait for the other hub. */
  get isFull(): boolean {
    return this.#parts.socket.writableLength > MAX_WAITING_BYTES;
  }

  /** Sends a frame of at most `MAX_FRAME_BYTES`. */
  send(frame: OutgoingFrame): void {
    if (!this.#isOpen) return;
    if (this.#queue.length === 0) setImmediate(() => this.flush());
    this.#queue.push(frame);
  }

  /** Sends a frame that consists only of its type. */
  sendBare(type: number, exchange = 0): void {
    this.send({ type, exchange, head: "", body: "" });
  }

  /** Sends a frame without a body. */
  sendHead(type: number, exchange: number, head: string): void {
    this.send({ type, exchange, head, body: "" });
  }

  /**
   * Stops reading from the connection until all waiting bytes were sent, so that a hub that does not read its answers
   * cannot send further requests.
   */
  waitForRoom(): void {
    const { socket } = this.#parts;
    if (socket.isPaused()) return;
    socket.pause();
    socket.once("drain", () => socket.resume());
  }

  /** Closes the connection after the waiting frames were sent. */
  end(): void {
    this.flush();
    this.#parts.socket.end();
  }

  /** Closes the connection immediately. */
  close(): void {
    this.#parts.socket.destroy();
  }

  #received(chunk: Buffer, reader: RecordReader): void {
    this.#hasReceived = true;
    try {
      for (const record of reader.read(chunk))
        for (const frame of new FrameDecoder().decode(record)) if (this.#isOpen) this.#parts.onFrame(frame);
    } catch {
      // After an invalid record, no later byte of the connection can be trusted.
      this.close();
    }
  }

  /** Sends the waiting frames now, and not at the end of the turn of the event loop. */
  flush(): void {
    const frames = this.#queue;
    if (frames.length === 0 || this.#parts.socket.destroyed) return;
    this.#queue = [];
    this.#hasSent = true;
    let start = 0;
    let bytes = 0;
    for (const [at, { head, body }] of frames.entries()) {
      bytes += maxBytesOf(head, body);
      if (bytes < RECORD_BYTES && at < frames.length - 1) continue;
      this.#parts.socket.write(this.#writer.write(frames.slice(start, at + 1)));
      [start, bytes] = [at + 1, 0];
    }
  }

  /**
   * Counts checks and not time: while the event loop of this hub was blocked, data may have arrived that it has not
   * read.
   */
  #check(): void {
    const isRead = this.#isRead();
    this.#silentChecks = this.#hasReceived || isRead ? 0 : this.#silentChecks + 1;
    if (this.#silentChecks >= MAX_SILENT_CHECKS) return this.close();
    if (!this.#hasSent) this.sendBare(ALIVE);
    this.#hasSent = false;
    this.#hasReceived = false;
  }

  /**
   * Returns true if this hub does not read, and the other one has received data since the previous check. The system
   * accepts further data only then, because its buffer is full.
   */
  #isRead(): boolean {
    const { socket } = this.#parts;
    const before = this.#sentBytes;
    this.#sentBytes = sentBytes(socket);
    return socket.isPaused() && this.#sentBytes !== before;
  }

  #closed(): void {
    this.#isOpen = false;
    clearInterval(this.#timer);
    const unsent = this.#queue;
    this.#queue = [];
    this.#parts.onClosed(unsent);
  }
}

/** Returns true if a head and a body fit into one frame. */
export function fitsFrame(head: string, body: string | Uint8Array): boolean {
  return maxBytesOf(head, body) <= MAX_FRAME_BYTES;
}

/** Returns an upper bound of the encoded size without encoding: a UTF-16 code unit has at most 3 bytes in UTF-8. */
function maxBytesOf(head: string, body: string | Uint8Array): number {
  return head.length * 3 + (typeof body === "string" ? body.length * 3 : body.length);
}
