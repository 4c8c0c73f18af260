import { EventEmitter } from "node:events";
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from "node:http";
import type { Channel } from "./channel.ts";
import { FRAME } from "./frames.ts";
import type { RequestHead } from "./messages.ts";

/** What may be under way to the reader before `write` says that it is enough. */
const HIGH_WATER_BYTES = 16 * 1024;

/** A response whose connection is a worker's: the part of `ServerResponse` that doors use. */
export class RemoteResponse extends EventEmitter {
  statusCode = 200;
  headersSent = false;
  destroyed = false;
  /** Nothing more can be sent, and nobody waits for it. */
  closed = false;
  writableEnded = false;
  /** Bytes that the caller has not taken yet. */
  writableLength = 0;
  readonly #channel: Channel;
  readonly #exchange: number;
  readonly #onOver: () => void;
  readonly #headers: OutgoingHttpHeaders = {};
  #isBegun = false;
  #needsDrain = false;

  /** `onOver` runs once, when no frame is sent or awaited any more. */
  constructor(channel: Channel, exchange: number, onOver: () => void) {
    super();
    this.#channel = channel;
    this.#exchange = exchange;
    this.#onOver = onOver;
  }

  /** As what doors are written for. Its tests run them against it. */
  get asServerResponse(): ServerResponse {
    return this as unknown as ServerResponse;
  }

  setHeader(name: string, value: number | string | readonly string[]): this {
    if (!this.headersSent) this.#headers[name.toLowerCase()] = value as number | string | string[];
    return this;
  }

  /** `headers`: by name, or names and values in turn. */
  writeHead(status: number, headers: OutgoingHttpHeaders | readonly string[] = {}): this {
    if (this.headersSent) throw new Error("The head of this answer was sent already.");
    this.headersSent = true;
    this.statusCode = status;
    if (isInTurn(headers))
      for (let at = 0; at < headers.length; at += 2) this.#headers[headers[at]!.toLowerCase()] = headers[at + 1];
    else for (const [name, value] of Object.entries(headers)) this.#headers[name.toLowerCase()] = value;
    return this;
  }

  flushHeaders(): void {
    if (!this.headersSent) this.writeHead(this.statusCode);
    if (this.#isBegun || this.destroyed) return;
    this.#isBegun = true;
    this.#channel.send(FRAME.begin, this.#exchange, this.#head());
  }

  /** Frames of one turn of the event loop leave together in any case. */
  cork(): void {}

  uncork(): void {}

  write(piece: string | Uint8Array): boolean {
    this.flushHeaders();
    if (this.destroyed || this.writableEnded) return false;
    this.writableLength += typeof piece === "string" ? Buffer.byteLength(piece) : piece.length;
    this.#channel.send(FRAME.piece, this.#exchange, "", piece);
    this.#needsDrain = this.writableLength >= HIGH_WATER_BYTES;
    return !this.#needsDrain;
  }

  end(last: string | Uint8Array = ""): this {
    if (this.destroyed || this.writableEnded) return this;
    if (!this.headersSent) this.writeHead(this.statusCode);
    this.writableEnded = true;
    if (!this.#isBegun) {
      this.#channel.send(FRAME.answer, this.#exchange, this.#head(), last);
    } else {
      if (last.length > 0) this.#channel.send(FRAME.piece, this.#exchange, "", last);
      this.#channel.send(FRAME.end, this.#exchange);
    }
    // What is left to do is the worker's: it watches over a reader that does not read.
    process.nextTick(() => {
      this.emit("finish");
      this.#close();
    });
    return this;
  }

  destroy(): this {
    if (this.destroyed || this.closed) return this;
    if (!this.writableEnded) this.#channel.send(FRAME.cut, this.#exchange);
    this.gone();
    return this;
  }

  /** The caller has taken a piece. */
  taken(bytes: number): void {
    this.writableLength -= bytes;
    if (!this.#needsDrain || this.writableLength > 0) return;
    this.#needsDrain = false;
    this.emit("drain");
  }

  /** Nobody is there to be answered any more. */
  gone(): void {
    if (this.closed || this.destroyed) return;
    this.destroyed = true;
    process.nextTick(() => this.#close());
  }

  #close(): void {
    if (this.closed) return;
    this.closed = true;
    this.#onOver();
    this.emit("close");
  }

  #head(): string {
    return JSON.stringify({ status: this.statusCode, headers: this.#headers });
  }
}

function isInTurn(headers: OutgoingHttpHeaders | readonly string[]): headers is readonly string[] {
  return Array.isArray(headers);
}

/** A request as doors look at it: method, target and headers. Its body is read through the context. */
export function remoteRequest({ method, url, headers }: RequestHead): IncomingMessage {
  return { method, url, headers } as IncomingMessage;
}
