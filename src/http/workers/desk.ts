import type { ServerResponse } from "node:http";
import type { Principal } from "../../core/call.ts";
import type { Logger } from "../../core/ports.ts";
import { tooLarge } from "../body.ts";
import { answerFailure } from "../failure.ts";
import type { HttpOptions } from "../options.ts";
import { Refusal } from "../refusal.ts";
import { HandlerContext, type RequestContext } from "../request-context.ts";
import type { Handler, RefusalBody } from "../router.ts";
import { TokenGate } from "../tokens.ts";
import type { RequestHead } from "./messages.ts";
import { remoteRequest, type RemoteResponse } from "./remote-exchange.ts";

interface Served {
  readonly handler: Handler;
  readonly refusalBody: RefusalBody | undefined;
}

/** Where requests that workers have checked reach their handlers. */
export class Desk {
  readonly #options: HttpOptions;
  readonly #logger: Logger;
  readonly #closing: AbortSignal;
  readonly #routes: Served[] = [];
  readonly #principals: ReadonlyMap<string, Principal>;

  constructor(options: HttpOptions, logger: Logger, closing: AbortSignal) {
    this.#options = options;
    this.#logger = logger;
    this.#closing = closing;
    const { principals } = new TokenGate(options.tokens, options.openRights);
    this.#principals = new Map(principals.map((principal) => [principal.id, principal]));
  }

  /** Routes are known by the order in which they are added. */
  add(handler: Handler, refusalBody: RefusalBody | undefined): void {
    this.#routes.push({ handler, refusalBody });
  }

  serve(head: RequestHead, body: Buffer, remote: RemoteResponse): void {
    const { handler, refusalBody } = this.#routes[head.route]!;
    const response = remote.asServerResponse;
    const failed = (error: unknown): void =>
      answerFailure(error, { response, method: head.method, logger: this.#logger, refusalBody });
    try {
      const handled = handler(remoteRequest(head), response, this.#contextOf(head, body, response));
      if (handled instanceof Promise) handled.catch(failed);
    } catch (error) {
      failed(error);
    }
  }

  #contextOf(head: RequestHead, body: Buffer, response: ServerResponse): RequestContext {
    const { remoteAddress, baseUrl, path, url } = head;
    const principal = this.#principals.get(head.principal)!;
    const facts = {
      principal,
      remoteAddress,
      baseUrl,
      path,
      search: url.slice(searchStart(url)),
      closing: this.#closing,
    };
    return new HandlerContext(facts, {
      response,
      limits: this.#options.limits,
      readBody: (maxBytes) => bodyOf(head, body, maxBytes),
    });
  }
}

function searchStart(url: string): number {
  const mark = url.indexOf("?");
  return mark === -1 ? url.length : mark + 1;
}

function bodyOf({ refusal }: RequestHead, body: Buffer, maxBytes: number): Promise<Buffer> {
  if (refusal) return Promise.reject(new Refusal(refusal.status, refusal.message, refusal.headers));
  return body.length > maxBytes ? Promise.reject(tooLarge(maxBytes)) : Promise.resolve(body);
}
