import { formatSseEvent, SSE_KEEP_ALIVE } from "../../wire/sse.ts";
import { leaveAtTurnEnd } from "../../core/timing/turn-end.ts";
import type { HttpAnswer } from "./answer.ts";

export interface StreamLimits {
  /** Quiet for this long: a comment is sent. */
  readonly streamKeepAliveMs: number;
  /** Bytes that may wait for the reader before the next event cuts it off. */
  readonly maxStreamBacklogBytes: number;
  /** Time in which the reader must take something of what waits. */
  readonly streamStallMs: number;
}

export interface EventOptions {
  readonly event?: string;
  readonly id?: string;
  readonly retryMs?: number;
}

/**
 * More is not gathered in one turn: what is written goes to the socket, and counts as waiting only when that does not
 * take it.
 */
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
 * Server-sent events as one answer. What a reader does not take waits in memory, so the backlog has two bounds: past
 * either, the connection is cut, which `onClosed` reports as it reports a caller that went. One event may pass the
 * bound of bytes by itself.
 */
export class EventStream {
  readonly #answer: HttpAnswer;
  readonly #limits: StreamLimits;
  readonly #keepAlive: NodeJS.Timeout;
  #stall: NodeJS.Timeout | undefined;
  #lastWrite = performance.now();
  #isOpen = true;
  /**
   * What was written in this turn. Node's response is not corked instead: what comes after the head is kept apart then,
   * and Node 22 and 24 send its end first.
   */
  #pending = "";
  #isHeld = false;
  #isEnding = false;

  constructor(answer: HttpAnswer, limits: StreamLimits, headers: Readonly<Record<string, string>> = {}) {
    this.#answer = answer;
    this.#limits = limits;
    answer.begin(200, [...STREAM_HEADERS, ...Object.entries(headers).flat()]);
    this.#flushLater();
    this.#keepAlive = EventStream.#watch(this, limits.streamKeepAliveMs);
  }

  // Functions are made outside the constructor, as in `Deadline`.
  static #watch(stream: EventStream, keepAliveMs: number): NodeJS.Timeout {
    stream.#answer.onClosed(() => stream.#closed());
    stream.#answer.onDrained(() => stream.#drained());
    return setInterval(() => stream.#comment(), keepAliveMs).unref();
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** Runs once when nobody reads any more, whoever ended it; at once when that is so already. */
  onClosed(run: () => void): void {
    this.#answer.onClosed(run);
  }

  /** Sends one event; `data` must not hold a line break. Does nothing once the stream is over. */
  send(data: string, options: EventOptions = { event: "message" }): void {
    this.#write(formatSseEvent(data, options));
  }

  /** Ends the stream after what was sent. */
  end(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    clearInterval(this.#keepAlive);
    this.#isEnding = true;
    this.#flushLater();
  }

  /** What is written in one turn, the head and the end among it, leaves in one piece, as far as it is not large. */
  #flushLater(): void {
    if (this.#isHeld) return;
    this.#isHeld = true;
    leaveAtTurnEnd(() => {
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

  /** Cuts a reader that takes nothing for a time. One that reads slowly goes on. */
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
    this.#isOpen = false;
    clearInterval(this.#keepAlive);
    this.#drained();
  }
}
