import type { Duplex } from "node:stream";
import { encodeFrames, FrameDecoder, type WorkerFrame, type OutgoingFrame } from "./frames.ts";

/** What may wait for the other process before this one stops giving it more to do. */
const MAX_WAITING_BYTES = 64 * 1024 * 1024;

/**
 * One end of the pipe between the primary and a worker. What is sent during one turn of the event loop leaves in one
 * write.
 */
export class Channel {
  readonly #pipe: Duplex;
  #queue: OutgoingFrame[] = [];
  #isOpen = true;

  constructor(pipe: Duplex, onFrame: (frame: WorkerFrame) => void) {
    this.#pipe = pipe;
    const decoder = new FrameDecoder();
    pipe.on("data", (chunk: Buffer) => {
      for (const frame of decoder.decode(chunk)) onFrame(frame);
    });
    // That the other process has gone is told by its end.
    pipe.on("error", () => {});
    pipe.once("close", () => {
      this.#isOpen = false;
      this.#queue = [];
    });
  }

  /** The other process takes less than it is given. */
  get isFull(): boolean {
    return this.#pipe.writableLength > MAX_WAITING_BYTES;
  }

  send(frame: OutgoingFrame): void {
    if (!this.#isOpen) return;
    // After what this turn of the event loop still does, so that its frames go together.
    if (this.#queue.length === 0) setImmediate(() => this.flush());
    this.#queue.push(frame);
  }

  /** A frame that says by its type alone what there is to say. */
  sendBare(type: number, exchange = 0): void {
    this.send({ type, exchange, head: "", body: "" });
  }

  /** A frame without a body. `head` is JSON text. */
  sendHead(type: number, exchange: number, head: string): void {
    this.send({ type, exchange, head, body: "" });
  }

  /** Writes at once what waits. `onWritten` runs when the system took it. */
  flush(onWritten?: () => void): void {
    const frames = this.#queue;
    this.#queue = [];
    if (frames.length > 0) this.#pipe.write(encodeFrames(frames), () => onWritten?.());
    else onWritten?.();
    if (this.isFull && !this.#pipe.isPaused()) this.#waitForRoom();
  }

  /** Nothing more is asked by somebody who does not take answers. */
  #waitForRoom(): void {
    this.#pipe.pause();
    this.#pipe.once("drain", () => this.#pipe.resume());
  }
}
