import type { Cancellation } from "../../../core/cancellation.ts";
import type { EventStream } from "../../../http/event-stream.ts";
import type { HttpExchange } from "../../../http/exchange.ts";
import { sendJson, sendJsonPieces } from "../../../http/send.ts";
import type { SplicedReply } from "../answers.ts";
import type { ModernOutlet } from "./outlet.ts";

/**
 * One modern request's way back over HTTP: plain JSON when nothing comes before the answer, else a stream of events. A
 * call that is quiet for long becomes a stream too, since clients and proxies give up on a head that does not come.
 */
export class HttpOutlet implements ModernOutlet {
  readonly #http: HttpExchange;
  readonly #canStream: boolean;
  readonly #quiet: NodeJS.Timeout | undefined;
  #stream: EventStream | undefined;
  #isOver = false;

  /** A caller that takes no stream gets its answer without what would have come before it. */
  constructor(http: HttpExchange, canStream: boolean) {
    this.#http = http;
    this.#canStream = canStream;
    HttpOutlet.#watch(this);
    if (canStream) this.#quiet = setTimeout(HttpOutlet.#openQuiet, QUIET_MS, this).unref();
  }

  // Functions are made outside the constructor, as in `Deadline`.
  static #watch(outlet: HttpOutlet): void {
    outlet.#http.answer.onClosed(() => outlet.#closed());
  }

  static readonly #openQuiet = (outlet: HttpOutlet): void => void outlet.#open();

  /** Aborted when the caller went before it was answered. */
  get signal(): Cancellation {
    return this.#http.answer.signal;
  }

  reply(text: string, status: number): void {
    if (this.#isOver) return;
    this.#isOver = true;
    clearTimeout(this.#quiet);
    if (!this.#stream) return sendJson(this.#http.answer, status, text);
    this.#stream.send(text);
    this.#stream.end();
  }

  replySpliced(reply: SplicedReply, status: number): void {
    if (this.#isOver || this.#stream) return this.reply(reply.join(""), status);
    this.#isOver = true;
    clearTimeout(this.#quiet);
    sendJsonPieces(this.#http.answer, status, reply);
  }

  note(text: string): void {
    if (this.#isOver || !this.#canStream) return;
    this.#open().send(text);
  }

  #open(): EventStream {
    clearTimeout(this.#quiet);
    this.#stream ??= this.#http.openStream();
    return this.#stream;
  }

  #closed(): void {
    clearTimeout(this.#quiet);
    this.#isOver = true;
  }
}

const QUIET_MS = 20_000;
