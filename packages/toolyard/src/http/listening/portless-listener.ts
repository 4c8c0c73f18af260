import type { Authenticator } from "../../core/ports/authenticator.ts";
import { CallSet } from "../../core/calls/call-map.ts";
import { OptionError } from "../../core/errors.ts";
import type { Logger } from "../../core/ports/ports.ts";
import { HttpAnswer } from "../answer/answer.ts";
import { Dispatcher } from "../dispatcher.ts";
import type { ExchangePlace } from "../exchange.ts";
import type { Listener, ListenerAddress } from "./listener.ts";
import type { HttpOptions } from "../options.ts";
import { Refusal, sendRefusal } from "../answer/refusal.ts";
import type { Handler, RefusalBody, RoutePlace } from "../router.ts";
import type { AnswerWire, HttpRequest } from "../wire.ts";

/** Listener without a port: another server passes requests to it. `W`: type of the wire of its answers. */
export abstract class PortlessListener<W extends AnswerWire> implements Listener {
  readonly address = undefined;
  protected readonly dispatcher: Dispatcher;
  protected readonly limits: HttpOptions["limits"];
  readonly #logger: Logger;
  readonly #closing = new AbortController();
  readonly #inFlight = new CallSet<W>();
  #onOver: () => void = () => {};
  #closed: Promise<void> | undefined;

  constructor(options: HttpOptions, logger: Logger, authenticator: Authenticator) {
    this.limits = options.limits;
    this.#logger = logger;
    this.dispatcher = new Dispatcher(options, { logger, authenticator, closing: this.#closing.signal });
  }

  get place(): ExchangePlace {
    return this.dispatcher.place;
  }

  route(place: RoutePlace, handler: Handler, refusalBody?: RefusalBody): void {
    this.dispatcher.router.add(place, handler, refusalBody);
  }

  listen(): Promise<ListenerAddress> {
    return Promise.reject(new OptionError("Requests are handed to this listener, so it has no port to listen on."));
  }

  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  /** Called when the answer was sent, or the caller disconnected. */
  over(wire: W): void {
    this.#inFlight.delete(wire);
    this.#onOver();
  }

  /** Ends an answer that exceeds the grace time. */
  protected abstract stop(wire: W): void;

  /** Answers a request. `problem`: refusal that is already known. */
  protected take(request: HttpRequest, wire: W, problem?: Refusal): void {
    const answer = new HttpAnswer(wire, this.#logger);
    // Without connections, the limit of connections applies to requests. On connections, Node's own server applies it.
    const isFull = this.#inFlight.size >= this.limits.maxConnections;
    this.#inFlight.add(wire);
    const refusal = isFull ? TOO_MANY : problem;
    if (refusal) sendRefusal(answer, refusal);
    else this.dispatcher.serve({ request, answer });
  }

  async #close(): Promise<void> {
    this.#closing.abort();
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, this.limits.shutdownGraceMs);
      this.#onOver = () => {
        if (this.#inFlight.size > 0) return;
        clearTimeout(timer);
        resolve();
      };
      this.#onOver();
    });
    for (const wire of this.#inFlight.values()) this.stop(wire);
  }
}

const TOO_MANY = new Refusal(503, "There are too many concurrent requests.", { "retry-after": "1" });
