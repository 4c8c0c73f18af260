import type { Cancellation } from "../../core/calls/cancellation.ts";
import { ResponseBody, type BodySource } from "./response-body.ts";
import type { HttpResponse } from "./sender.ts";

interface ResponseWaiter {
  resolve(response: HttpResponse): void;
  reject(error: unknown): void;
}

/** Receives the parts of one answer from a connection and builds the response. */
export class AnswerSink {
  readonly #waiting: ResponseWaiter;
  readonly #signal: Cancellation;
  #source: BodySource | undefined;
  #body: ResponseBody | undefined;
  readonly #onAbort: () => void;

  constructor(waiting: ResponseWaiter, signal: Cancellation) {
    this.#waiting = waiting;
    this.#signal = signal;
    this.#onAbort = AnswerSink.#aborterOf(this);
    signal.addEventListener("abort", this.#onAbort, ONCE);
  }

  // Creates the listener outside the constructor, because on Node 20 a closure created there would keep more objects in
  // memory.
  static #aborterOf(sink: AnswerSink): () => void {
    return () => sink.#abort();
  }

  /** Sets the connection that receives the answer. From now on, cancelling the request aborts `source`. */
  begin(source: BodySource): void {
    this.#source = source;
    if (this.#signal.aborted) this.#abort();
  }

  head(status: number, header: HttpResponse["header"]): void {
    this.#body = new ResponseBody(this.#source!);
    this.#waiting.resolve({ status, header, body: this.#body });
  }

  data(chunk: Buffer): void {
    this.#body?.push(chunk);
  }

  end(): void {
    this.#release();
    this.#body?.end({});
  }

  fail(error: unknown): void {
    this.#release();
    this.#waiting.reject(error);
    this.#body?.end({ error });
  }

  #abort(): void {
    this.#release();
    const reason: unknown = this.#signal.reason;
    const error = reason instanceof Error ? reason : new Error("The request was cancelled.", { cause: reason });
    this.#waiting.reject(error);
    if (this.#body) this.#body.destroy(error);
    else this.#source?.abort(error);
  }

  #release(): void {
    this.#signal.removeEventListener("abort", this.#onAbort);
  }
}

const ONCE = Object.freeze({ once: true });
