import { Late } from "../../core/late.ts";
import type { Principal } from "../../core/calls/call.ts";
import type { SessionlessConversation } from "../endpoint.ts";
import type { LegacyExchange } from "./legacy/exchange.ts";
import type { LegacyEndpoint } from "./legacy/legacy-endpoint.ts";
import type { SessionDepsParts } from "./legacy/session-deps.ts";

type EndStep = (endpoint: LegacyEndpoint) => void;

/**
 * Legacy era, loaded by the first request that needs it. A hub with only modern clients never loads it. Requests that
 * arrive during the loading are handled in order.
 */
export class LateLegacy {
  readonly #parts: SessionDepsParts;
  readonly #late = new Late(() => this.#load());
  #endpoint: LegacyEndpoint | undefined;
  /** Steps of the shutdown that were requested before the legacy endpoint was loaded, in order. */
  readonly #ends: EndStep[] = [];

  constructor(parts: SessionDepsParts) {
    this.#parts = parts;
  }

  post(exchange: LegacyExchange, body: unknown): void | Promise<void> {
    return this.#endpoint
      ? this.#endpoint.http.post(exchange, body)
      : this.#once(({ http }) => http.post(exchange, body));
  }

  get(exchange: LegacyExchange): void | Promise<void> {
    return this.#endpoint ? this.#endpoint.http.get(exchange) : this.#once(({ http }) => http.get(exchange));
  }

  delete(exchange: LegacyExchange): void | Promise<void> {
    return this.#endpoint ? this.#endpoint.http.delete(exchange) : this.#once(({ http }) => http.delete(exchange));
  }

  openSse(exchange: LegacyExchange): void | Promise<void> {
    return this.#once(({ sse }) => sse.open(exchange));
  }

  postSse(exchange: LegacyExchange, body: unknown): void | Promise<void> {
    return this.#once(({ sse }) => sse.post(exchange, body));
  }

  converse(principal: Principal): SessionlessConversation {
    return (
      this.#endpoint?.converse(principal) ??
      new LateConversation(this.#once((endpoint) => endpoint.converse(principal)))
    );
  }

  drain(): void {
    this.#end(({ http }) => http.drain());
  }

  giveUp(): void {
    this.#end((endpoint) => endpoint.giveUp());
  }

  close(): void {
    this.#end((endpoint) => endpoint.close());
  }

  #end(step: EndStep): void {
    if (this.#endpoint) step(this.#endpoint);
    else this.#ends.push(step);
  }

  async #once<T>(work: (endpoint: LegacyEndpoint) => T | Promise<T>): Promise<T> {
    return work(this.#endpoint ?? (await this.#late.get()));
  }

  async #load(): Promise<LegacyEndpoint> {
    const { LegacyEndpoint } = await import("./legacy/legacy-endpoint.ts");
    this.#endpoint = new LegacyEndpoint(this.#parts);
    for (const step of this.#ends) step(this.#endpoint);
    return this.#endpoint;
  }
}

class LateConversation implements SessionlessConversation {
  readonly #loaded: Promise<SessionlessConversation>;

  constructor(loaded: Promise<SessionlessConversation>) {
    this.#loaded = loaded;
  }

  async receive(...args: Parameters<SessionlessConversation["receive"]>): Promise<void> {
    await (await this.#loaded).receive(...args);
  }

  close(reason: string): void {
    void this.#loaded.then((conversation) => conversation.close(reason));
  }
}
