import { CallSet } from "../../core/call-map.ts";
import type { Authenticator } from "../../core/authenticator.ts";
import { OptionError } from "../../core/errors.ts";
import type { Logger } from "../../core/ports.ts";
import { HttpAnswer } from "../answer.ts";
import { Dispatcher } from "../dispatcher.ts";
import type { Listener, ListenerAddress } from "../listener.ts";
import type { HttpOptions } from "../options.ts";
import { Refusal, sendRefusal } from "../refusal.ts";
import type { Handler, RefusalBody, RoutePlace } from "../router.ts";
import { HandedWire, readHanded, type GivenRequest, type GivenResponse, type Handed } from "./handed.ts";
import type { WireOwner } from "./wire.ts";

/**
 * Answers a request of Node's server, for Express, Fastify and `node:http`. `next` is what Express gives: it is called
 * for a path that is not the hub's. Throws a `TypeError` for a request of another kind.
 */
export type NodeRequestHandler = (
  request: GivenRequest,
  response: GivenResponse,
  next?: (error?: unknown) => void,
) => void;

/** A listener without a port, for servers of Node's that belong to the program. */
export class HandlerListener implements Listener, WireOwner {
  readonly address = undefined;
  readonly streamStallMs: number;
  readonly #options: HttpOptions;
  readonly #dispatcher: Dispatcher;
  readonly #closing = new AbortController();
  readonly #inFlight = new CallSet<HandedWire>();
  #ready: Promise<unknown> | undefined;
  #onOver: () => void = () => {};
  #closed: Promise<void> | undefined;

  constructor(options: HttpOptions, logger: Logger, authenticator: Authenticator) {
    this.#options = options;
    this.streamStallMs = options.limits.streamStallMs;
    this.#dispatcher = new Dispatcher(options, { logger, authenticator, closing: this.#closing.signal });
  }

  /** Requests wait for it: the doors are mounted by then. */
  waitFor(ready: Promise<unknown>): void {
    void this.#settle(ready);
  }

  async #settle(ready: Promise<unknown>): Promise<void> {
    this.#ready = ready;
    // Whoever waits for it hears of a failure, now and later.
    const isOpen = await ready.then(
      () => true,
      () => false,
    );
    if (isOpen) this.#ready = undefined;
  }

  readonly handle: NodeRequestHandler = (request, response, next) => {
    const handed = readHanded(request, response);
    if (this.#ready === undefined) return this.#take(handed, next);
    void this.#takeLate(handed, next);
  };

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

  over(wire: HandedWire): void {
    this.#inFlight.delete(wire);
    this.#onOver();
  }

  async #takeLate(handed: Handed, next?: (error?: unknown) => void): Promise<void> {
    try {
      await this.#ready;
      this.#take(handed, next);
    } catch (error) {
      if (next) return next(error);
      handed.response.writeHead(500).end();
    }
  }

  #take(handed: Handed, next?: (error?: unknown) => void): void {
    const { wholeUrl, request } = handed;
    const url = request.url ?? "/";
    // A router that mounts at `/mcp` leaves `/` in `url`; one that mounts at a path of its own leaves the hub's.
    const target = wholeUrl !== undefined && this.#dispatcher.isOwn(wholeUrl) ? wholeUrl : url;
    if (next && !this.#dispatcher.isOwn(target)) return next();
    const wire = new HandedWire(handed, target, this);
    const answer = new HttpAnswer(wire);
    const isFull = this.#inFlight.size >= this.#options.limits.maxConnections;
    this.#inFlight.add(wire);
    if (isFull)
      return sendRefusal(answer, new Refusal(503, "There are too many requests at once.", { "retry-after": "1" }));
    this.#dispatcher.serve({ request: wire, answer });
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
    for (const wire of this.#inFlight.values()) wire.cut();
  }
}
