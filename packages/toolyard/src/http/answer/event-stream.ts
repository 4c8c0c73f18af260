import { formatSseEvent, SSE_KEEP_ALIVE } from "../../wire/sse-format.ts";
import { processActivity } from "../../core/process-activity.ts";
import { sendAtTurnEnd } from "../../core/timing/turn-end.ts";
import type { HttpAnswer } from "./answer.ts";

export interface StreamLimits {
  /** Milliseconds without data after which a comment is sent. */
  readonly streamKeepAliveMs: number;
  /** Maximum number of bytes that wait for the reader. If it is exceeded, the next event closes the connection. */
  readonly maxStreamBacklogBytes: number;
  /** Maximum milliseconds in which the reader reads nothing. */
  readonly streamStallMs: number;
}

export interface EventOptions {
  readonly event?: string;
  readonly id?: string;
  readonly retryMs?: number;
}

/** Maximum number of characters that are collected in one turn. Above it, the data are written to the socket. */
const MAX_HELD_CHARS = 64 * 1024;

const STREAM_HEADERS = [
  "content-type",
  "text/event-stream",
  "cache-control",
  "no-cache, no-transform",
  "x-accel-buffering",
  "no",
] as const;

/**
 * Answer as a stream of server-sent events. Unread data wait in memory, limited by size and by time. Above either limit
 * the connection is closed, which `onClosed` reports like a disconnection. A single event may exceed the limit of
 * bytes.
 */
export class EventStream {
  readonly #answer: HttpAnswer;
  readonly #limits: StreamLimits;
  readonly #keepAlive: NodeJS.Timeout;
  #stall: NodeJS.Timeout | undefined;
  #lastWrite = performance.now();
  #isOpen = true;
  /**
   * Data written in this turn. They are collected here instead of in a corked response, because Node 22 and 24 would
   * then send the end before the data.
   */
  #pending = "";
  #isHeld = false;
  #isEnding = false;
  #isClosed = false;

  constructor(answer: HttpAnswer, limits: StreamLimits, headers: Readonly<Record<string, string>> = {}) {
    this.#answer = answer;
    this.#limits = limits;
    answer.begin(200, [...STREAM_HEADERS, ...Object.entries(headers).flat()]);
    this.#flushLater();
    processActivity.streams += 1;
    this.#keepAlive = EventStream.#watch(this, limits.streamKeepAliveMs);
  }

  // A static method, because on Node 20 a closure created in the constructor would stay in memory until a full garbage
  // collection.
  static #watch(stream: EventStream, keepAliveMs: number): NodeJS.Timeout {
    stream.#answer.onClosed(() => stream.#closed());
    stream.#answer.onDrained(() => stream.#drained());
    return setInterval(() => stream.#comment(), keepAliveMs).unref();
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  /**
   * Calls `run` once, when the stream has no reader any more, for any reason; immediately if that is already the case.
   */
  onClosed(run: () => void): void {
    this.#answer.onClosed(run);
  }

  /** Sends one event. `data` must not contain a line break. Has no effect after the end of the stream. */
  send(data: string, options: EventOptions = { event: "message" }): void {
    this.#write(formatSseEvent(data, options));
  }

  /** Ends the stream after pending data. */
  end(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    clearInterval(this.#keepAlive);
    this.#isEnding = true;
    this.#flushLater();
  }

  /** Sends the data of one turn together, including head and end, up to a maximum size. */
  #flushLater(): void {
    if (this.#isHeld) return;
    this.#isHeld = true;
    sendAtTurnEnd(() => {
      this.#isHeld = false;
      this.#flush();
    });
  }

  #flush(): void {
    const text = this.#pending;
    this.#pending = "";
    if (this.#answer.isGone) return;
    if (this.#isEnding) this.#answer.end(text);
    else if (text === "") this.#answer.flush();
    else if (!this.#answer.write(text)) this.#watchStall();
  }

  #comment(): void {
    if (performance.now() - this.#lastWrite >= this.#limits.streamKeepAliveMs / 2) this.#write(SSE_KEEP_ALIVE);
  }

  #write(text: string): void {
    if (!this.#isOpen) return;
    if (this.#answer.waitingBytes + this.#pending.length > this.#limits.maxStreamBacklogBytes) return this.#cut();
    this.#lastWrite = performance.now();
    this.#pending += text;
    if (this.#pending.length > Math.min(MAX_HELD_CHARS, this.#limits.maxStreamBacklogBytes / 4)) this.#flush();
    else this.#flushLater();
  }

  /** Closes the connection of a reader that reads nothing for a certain time. A slow reader may continue. */
  #watchStall(): void {
    if (this.#stall) return;
    const before = this.#answer.sentBytes;
    this.#stall = setTimeout(() => {
      this.#stall = undefined;
      if (this.#answer.sentBytes === before) this.#cut();
      else this.#watchStall();
    }, this.#limits.streamStallMs).unref();
  }

  #drained(): void {
    clearTimeout(this.#stall);
    this.#stall = undefined;
  }

  #cut(): void {
    this.#isOpen = false;
    this.#answer.cut();
  }

  #closed(): void {
    if (!this.#isClosed) processActivity.streams -= 1;
    this.#isClosed = true;
    this.#isOpen = false;
    clearInterval(this.#keepAlive);
    this.#drained();
  }
}
