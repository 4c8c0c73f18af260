import type { Dispatcher } from "undici";
import type { Cancellation } from "../../core/cancellation.ts";
import { AnswerSink } from "./answer-sink.ts";
import type { HttpResponse, Outgoing, Sender } from "./sender.ts";

/** Sends by way of one of undici's dispatchers. */
export class UndiciSender implements Sender {
  readonly #dispatcher: Dispatcher;

  constructor(dispatcher: Dispatcher) {
    this.#dispatcher = dispatcher;
  }

  send({ origin, path, method, headers, body, silenceMs }: Outgoing, signal: Cancellation): Promise<HttpResponse> {
    const options = {
      origin,
      path,
      method,
      headers,
      body: body ?? null,
      headersTimeout: silenceMs,
      bodyTimeout: silenceMs,
    };
    return new Promise((resolve, reject) => {
      this.#dispatcher.dispatch(options, new SinkHandler(new AnswerSink({ resolve, reject }, signal)));
    });
  }

  destroy(): Promise<void> {
    return this.#dispatcher.destroy();
  }
}

/** An answer as undici tells of it. */
class SinkHandler implements Dispatcher.DispatchHandler {
  readonly #sink: AnswerSink;

  constructor(sink: AnswerSink) {
    this.#sink = sink;
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#sink.begin(controller);
  }

  onResponseStart(_controller: Dispatcher.DispatchController, status: number, headers: Headers): void {
    // 100 to 199 come before the response.
    if (status < 200) return;
    this.#sink.head(status, (name) => {
      const value = headers[name];
      return Array.isArray(value) ? value.join(", ") : value;
    });
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#sink.data(chunk);
  }

  onResponseEnd(): void {
    this.#sink.end();
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: unknown): void {
    this.#sink.fail(error);
  }
}

type Headers = Readonly<Record<string, string | string[] | undefined>>;
