import type { Dispatcher } from "undici";
import type { Cancellation } from "../../core/cancellation.ts";
import { ResponseBody } from "./response-body.ts";

export interface RawResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: ResponseBody;
}

/**
 * Sends one request and resolves with the head of its response. Rejects with what it died of, or with the signal's
 * reason as soon as that aborts, be it that the request still waits for a connection; the signal ends the body, too.
 */
export function dispatch(
  dispatcher: Dispatcher,
  options: Dispatcher.DispatchOptions,
  signal: Cancellation,
): Promise<RawResponse> {
  return new Promise((resolve, reject) => {
    dispatcher.dispatch(options, new ResponseHandler({ resolve, reject }, signal));
  });
}

interface Waiting {
  resolve(response: RawResponse): void;
  reject(error: unknown): void;
}

class ResponseHandler implements Dispatcher.DispatchHandler {
  readonly #waiting: Waiting;
  readonly #signal: Cancellation;
  #controller: Dispatcher.DispatchController | undefined;
  #body: ResponseBody | undefined;
  readonly #onAbort: () => void;

  constructor(waiting: Waiting, signal: Cancellation) {
    this.#waiting = waiting;
    this.#signal = signal;
    this.#onAbort = ResponseHandler.#aborterOf(this);
    signal.addEventListener("abort", this.#onAbort, ONCE);
  }

  // Made outside the constructor, as in `Deadline`.
  static #aborterOf(handler: ResponseHandler): () => void {
    return () => handler.#abort();
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#signal.aborted) this.#abort();
  }

  onResponseStart(controller: Dispatcher.DispatchController, status: number, headers: RawResponse["headers"]): void {
    // 100 to 199 come before the response.
    if (status < 200) return;
    this.#body = new ResponseBody(controller);
    this.#waiting.resolve({ status, headers, body: this.#body });
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#body?.push(chunk);
  }

  onResponseEnd(): void {
    this.#release();
    this.#body?.end({});
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: unknown): void {
    this.#release();
    this.#waiting.reject(error);
    this.#body?.end({ error });
  }

  #abort(): void {
    this.#release();
    const reason: unknown = this.#signal.reason;
    const error = reason instanceof Error ? reason : new Error("The request was given up.", { cause: reason });
    this.#waiting.reject(error);
    if (this.#body) this.#body.destroy(error);
    else this.#controller?.abort(error);
  }

  #release(): void {
    this.#signal.removeEventListener("abort", this.#onAbort);
  }
}

const ONCE = Object.freeze({ once: true });
