import { OptionError } from "../../core/errors.ts";
import type { Authenticator } from "../../core/authenticator.ts";
import type { Logger } from "../../core/ports.ts";
import { HttpAnswer } from "../answer.ts";
import { Dispatcher } from "../dispatcher.ts";
import type { Listener, ListenerAddress } from "../listener.ts";
import type { HttpOptions } from "../options.ts";
import { Refusal, sendRefusal } from "../refusal.ts";
import { requestKind, wrongRequest } from "../request-kinds.ts";
import type { Handler, RefusalBody, RoutePlace } from "../router.ts";
import type { HttpRequest } from "../wire.ts";
import { FetchAnswerWire, FetchRequest } from "./wire.ts";

/**
 * Answers a standard `Request`. Rejects with the signal's reason when that aborts before the head of the answer is
 * there.
 */
export type FetchHandler = (request: Request) => Promise<Response>;

/** A listener without a port, for frameworks and runtimes that hand out a `Request`. */
export interface FetchListener extends Listener {
  readonly fetch: FetchHandler;
}

export function createFetchListener(options: HttpOptions, logger: Logger, authenticator: Authenticator): FetchListener {
  return new WebListener(options, logger, authenticator);
}

class WebListener implements FetchListener {
  readonly address = undefined;
  readonly fetch: FetchHandler = (request) => this.#serve(request);
  readonly #options: HttpOptions;
  readonly #dispatcher: Dispatcher;
  readonly #closing = new AbortController();
  readonly #inFlight = new Set<FetchAnswerWire>();
  #onOver: () => void = () => {};
  #closed: Promise<void> | undefined;

  constructor(options: HttpOptions, logger: Logger, authenticator: Authenticator) {
    this.#options = options;
    this.#dispatcher = new Dispatcher(options, { logger, authenticator, closing: this.#closing.signal });
  }

  route(place: RoutePlace, handler: Handler, refusalBody?: RefusalBody): void {
    this.#dispatcher.router.add(place, handler, refusalBody);
  }

  listen(): Promise<ListenerAddress> {
    return Promise.reject(new OptionError("Requests are handed to this listener, so it has no port to listen on."));
  }

  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  #serve(request: Request): Promise<Response> {
    if (requestKind(request) !== "a standard Request")
      return Promise.reject(wrongRequest("`fetch` of hub.serveFetch()", "a standard Request", request));
    const { signal } = request;
    if (signal.aborted) return Promise.reject(reasonOf(signal));
    return new Promise((resolve, reject) => {
      const onAbort = (): void => wire.stop(reasonOf(signal));
      const over = (): void => {
        signal.removeEventListener("abort", onAbort);
        this.#inFlight.delete(wire);
        this.#onOver();
      };
      const wire = new FetchAnswerWire(request.method, { resolve, reject, over });
      signal.addEventListener("abort", onAbort, { once: true });
      this.#take(request, wire);
    });
  }

  #take(request: Request, wire: FetchAnswerWire): void {
    const { limits } = this.#options;
    const answer = new HttpAnswer(wire);
    const arrived = new FetchRequest(request, limits.requestTimeoutMs);
    // What Node's server sees to on a connection.
    if (this.#inFlight.size >= limits.maxConnections)
      return sendRefusal(answer, new Refusal(503, "There are too many requests at once.", { "retry-after": "1" }));
    this.#inFlight.add(wire);
    if (headBytes(arrived) > limits.maxHeaderBytes)
      return sendRefusal(answer, new Refusal(431, "Request Header Fields Too Large"));
    this.#dispatcher.serve({ request: arrived, answer });
  }

  async #close(): Promise<void> {
    this.#closing.abort();
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, this.#options.limits.shutdownGraceMs);
      this.#onOver = () => {
        if (this.#inFlight.size > 0) return;
        clearTimeout(timer);
        resolve();
      };
      this.#onOver();
    });
    for (const wire of this.#inFlight) wire.stop(new Error("The hub is closing."));
  }
}

function headBytes({ target, headers }: HttpRequest): number {
  return Object.entries(headers).reduce(
    (sum, [name, value]) => sum + name.length + String(value).length + 4,
    target.length,
  );
}

function reasonOf({ reason }: AbortSignal): Error {
  return reason instanceof Error ? reason : new Error("The request was given up.", { cause: reason });
}
