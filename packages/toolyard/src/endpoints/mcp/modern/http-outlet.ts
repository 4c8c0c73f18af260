import type { AcceptedTypes } from "../../../http/request/accept.ts";
import type { EventStream } from "../../../http/answer/event-stream.ts";
import type { HttpExchange } from "../../../http/exchange.ts";
import { JSON_CONTENT, sendJsonPieces } from "../../../http/answer/send.ts";
import type { SplicedReply } from "../answers.ts";
import type { ModernOutlet } from "./outlet.ts";
import type { QuietCall, QuietCalls } from "./quiet-calls.ts";

/**
 * Response to one modern HTTP request: plain JSON if nothing precedes the answer, otherwise a stream of events. A call
 * that sends nothing for a long time becomes a stream too, because clients and proxies time out if they receive no
 * headers.
 */
export class HttpOutlet implements ModernOutlet, QuietCall {
  readonly startedAt = performance.now();
  readonly #http: HttpExchange;
  readonly #accepted: AcceptedTypes;
  readonly #quiet: QuietCalls;
  #stream: EventStream | undefined;
  #isOver = false;

  /** If the client accepts no stream, it gets only its answer; notifications before the answer are dropped. */
  constructor(http: HttpExchange, accepted: AcceptedTypes, quiet: QuietCalls) {
    this.#http = http;
    this.#quiet = quiet;
    this.#accepted = accepted;
    HttpOutlet.#watch(this);
    if (accepted.stream) quiet.add(this);
  }

  // A static method, because on Node 20 a closure created in the constructor would stay in memory until a full garbage
  // collection.
  static #watch(outlet: HttpOutlet): void {
    outlet.#http.answer.onClosed(() => {
      if (outlet.#isOver) return;
      outlet.#forget();
      outlet.#isOver = true;
    });
  }

  reply(text: string, status: number, requiredScopes?: readonly string[]): void {
    if (this.#isOver) return;
    if (requiredScopes) this.#http.answer.requireScopes(requiredScopes);
    // HTTP errors are JSON with their status, for any `Accept`.
    if (!this.#accepted.json && status === 200 && !requiredScopes) this.#open();
    this.#isOver = true;
    this.#forget();
    if (!this.#stream) return this.#http.answer.send(status, JSON_CONTENT, text);
    this.#stream.send(text);
    this.#stream.end();
  }

  replySpliced(reply: SplicedReply, status: number): void {
    if (this.#isOver || this.#stream || !this.#accepted.json) return this.reply(reply.join(""), status);
    this.#isOver = true;
    this.#forget();
    sendJsonPieces(this.#http.answer, status, reply);
  }

  note(text: string): void {
    if (this.#isOver || !this.#accepted.stream) return;
    this.#open().send(text);
  }

  /** Turns the response into a stream before there is anything to send. */
  open(): void {
    if (!this.#isOver) this.#open();
  }

  #open(): EventStream {
    if (!this.#stream) this.#forget();
    this.#stream ??= this.#http.openStream();
    return this.#stream;
  }

  #forget(): void {
    if (this.#accepted.stream && !this.#stream) this.#quiet.delete(this);
  }
}
