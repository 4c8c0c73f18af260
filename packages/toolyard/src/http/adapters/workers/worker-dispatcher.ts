import type { Logger } from "../../../core/ports/ports.ts";
import { HttpAnswer } from "../../answer/answer.ts";
import { BodyBudget } from "../../request/body-budget.ts";
import { HttpExchange, type Arrival, type ExchangePlace } from "../../exchange.ts";
import { answerFailure } from "../../answer/failure.ts";
import type { HttpOptions } from "../../options.ts";
import type { Handler, RefusalBody } from "../../router.ts";
import type { RequestHead } from "./messages.ts";
import { PrincipalReader } from "./principal-text.ts";
import { RemoteRequest, type RemoteAnswerWire } from "./remote-wire.ts";

interface ServedRoute {
  readonly handler: Handler;
  readonly refusalBody: RefusalBody | undefined;
}

interface PrimaryParts {
  readonly closing: AbortSignal;
  readonly authenticator: ExchangePlace["authenticator"];
}

/** Passes requests that workers have checked to their handlers. */
export class WorkerDispatcher {
  readonly #logger: Logger;
  readonly place: ExchangePlace;
  readonly #routes: ServedRoute[] = [];
  readonly #principals = new PrincipalReader();

  constructor({ limits }: HttpOptions, logger: Logger, { closing, authenticator }: PrimaryParts) {
    this.#logger = logger;
    this.place = { limits, closing, bodies: new BodyBudget(limits), authenticator };
  }

  /** Adds a route. Its number is its position in the order of additions. */
  add(handler: Handler, refusalBody: RefusalBody | undefined): void {
    this.#routes.push({ handler, refusalBody });
  }

  serve(head: RequestHead, body: Buffer, wire: RemoteAnswerWire): void {
    const { handler, refusalBody } = this.#routes[head.route]!;
    const answer = new HttpAnswer(wire, this.#logger);
    const failed = (error: unknown): void =>
      answerFailure(error, { answer, method: head.method, logger: this.#logger, refusalBody });
    try {
      const handled = handler(this.#exchange(head, { request: new RemoteRequest(head, body), answer }));
      if (handled instanceof Promise) handled.catch(failed);
    } catch (error) {
      failed(error);
    }
  }

  #exchange({ principal, remoteAddress, baseUrl, path, search, mount }: RequestHead, arrival: Arrival): HttpExchange {
    const facts = { principal: this.#principals.read(principal), remoteAddress, baseUrl, path, search, mount };
    return new HttpExchange(arrival, facts, this.place);
  }
}
