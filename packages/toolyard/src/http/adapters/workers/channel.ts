import type { Duplex } from "node:stream";
import { encodeFrames, FrameDecoder, type WorkerFrame, type OutgoingFrame } from "./frames.ts";

/** Maximum number of bytes that wait for the other process. Above it, this process stops accepting work. */
const MAX_WAITING_BYTES = 64 * 1024 * 1024;

/**
 * One end of the pipe between the primary and a worker. Messages of one turn of the event loop are written together.
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
    // The error is ignored, because `close` reports the end of the other process.
    pipe.on("error", () => {});
    pipe.once("close", () => {
      this.#isOpen = false;
      this.#queue = [];
    });
  }

  /**
   * True if more than `MAX_WAITING_BYTES` wait for the other process, which reads more slowly than this process writes.
   */
  get isFull(): boolean {
    return this.#pipe.writableLength > MAX_WAITING_BYTES;
  }

  send(frame: OutgoingFrame): void {
    if (!this.#isOpen) return;
    // Frames of one turn are collected and written together in the next turn.
    if (this.#queue.length === 0) setImmediate(() => this.flush());
    this.#queue.push(frame);
  }

  /** Sends a frame that consists only of its type. */
  sendBare(type: number, exchange = 0): void {
    this.send({ type, exchange, head: "", body: "" });
  }

  /** Sends a frame without a body. `head` is JSON text. */
  sendHead(type: number, exchange: number, head: string): void {
    this.send({ type, exchange, head, body: "" });
  }

  /** Writes the waiting frames immediately. `onWritten` is called when the system has accepted them. */
  flush(onWritten?: () => void): void {
    const frames = this.#queue;
    this.#queue = [];
    if (frames.length > 0) this.#pipe.write(encodeFrames(frames), () => onWritten?.());
    else onWritten?.();
    if (this.isFull && !this.#pipe.isPaused()) this.#waitForRoom();
  }

  /** Stops accepting requests from the other process until it has read the waiting answers. */
  #waitForRoom(): void {
    this.#pipe.pause();
    this.#pipe.once("drain", () => this.#pipe.resume());
  }
}
