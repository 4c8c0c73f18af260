import type { HttpExchange } from "../http/exchange.ts";
import type { ForwardResult } from "../http/relay/forwarding.ts";
import type { RelayedRequest } from "../http/relay/hub-relay.ts";

/** Answers a request that another hub has passed to this one. The caller is authenticated. */
export type RelayedPathHandler = (exchange: HttpExchange) => void | Promise<void>;

/** Passes requests of an endpoint to the same endpoint of another hub of the store. */
export interface RequestRelay {
  /** Passes a request to a hub. Rejects with a `StoreLostError` if its address cannot be found. */
  forward(hub: string, request: RelayedRequest): Promise<ForwardResult>;
  /** Serves requests of other hubs at a path and below it. */
  serve(path: string, handler: RelayedPathHandler): void;
}

/** Handlers of relayed requests by path. */
export class RelayedPaths {
  readonly #handlers: (readonly [path: string, handler: RelayedPathHandler])[] = [];

  add(path: string, handler: RelayedPathHandler): void {
    this.#handlers.push([path, handler]);
  }

  find(path: string): RelayedPathHandler | undefined {
    return this.#handlers.find(([own]) => path === own || path.startsWith(`${own}/`))?.[1];
  }
}
