import { contextOfHeaders } from "../../core/trace-context.ts";
import { BuiltCall } from "../../core/calls/built-call.ts";
import { nextCallId } from "../../core/calls/call-id.ts";
import type { Call, CallMethod } from "../../core/calls/call.ts";
import type { CallerLink } from "../../core/calls/caller-link.ts";
import { internalFailureText, FailError, messageOf } from "../../core/errors.ts";
import type { View } from "../../core/ports/hub-port.ts";
import type { JsonObject } from "../../core/json/json.ts";
import { fail, type Fail, type Outcome } from "../../core/calls/outcome.ts";
import type { Logger } from "../../core/ports/ports.ts";
import { RPC } from "../../wire/messages.ts";
import type { RestExchange } from "./rest-exchange.ts";
import type { RestParts } from "./ports.ts";

export interface RestCallTarget {
  readonly method: CallMethod;
  readonly target: string;
  readonly args?: JsonObject;
  /** Further parameters of the call. @default none */
  readonly params?: JsonObject;
}

/** Runs the calls of requests, and tracks the running ones. */
export class Calls {
  readonly #hub: RestParts["hub"];
  readonly #logger: Logger;
  readonly #endpoint: string;
  readonly #running = new Set<RestExchange>();

  /** `endpoint` is the name under which calls are recorded. */
  constructor(hub: RestParts["hub"], logger: Logger, endpoint = "rest") {
    this.#endpoint = endpoint;
    this.#hub = hub;
    this.#logger = logger;
  }

  /** Ends all running requests with a response, because the hub is closing. */
  giveUp(): void {
    for (const exchange of this.#running) exchange.giveUp();
  }

  /** Runs a call. Never rejects. */
  run(what: RestCallTarget, view: View, exchange: RestExchange): Promise<Outcome> {
    return this.guard(exchange, () => this.#hub.call(callOf(what, view, { exchange, endpoint: this.#endpoint })));
  }

  /**
   * Runs work for an exchange. A thrown error becomes a failure; an internal error is logged with the id that the
   * caller gets.
   */
  async guard<T extends { readonly ok: true }>(
    exchange: RestExchange,
    work: () => Promise<T | Fail>,
  ): Promise<T | Fail> {
    this.#running.add(exchange);
    try {
      const outcome = await work();
      return !outcome.ok && exchange.isGivenUp ? CLOSING : outcome;
    } catch (error) {
      if (exchange.isGivenUp) return CLOSING;
      return error instanceof FailError ? error.failure : this.#fault(error);
    } finally {
      this.#running.delete(exchange);
    }
  }

  #fault(error: unknown): Fail {
    const id = nextCallId();
    const stack = error instanceof Error && error.stack !== undefined ? { stack: error.stack } : {};
    this.#logger.error("A request of the REST endpoint failed because of an internal error.", {
      call: id,
      error: messageOf(error),
      ...stack,
    });
    return fail("internal", internalFailureText(id));
  }
}

const CLOSING = fail("unavailable", "The hub is closing. Try again once it is back.");

interface CallOrigin {
  readonly exchange: RestExchange;
  readonly endpoint: string;
}

const NO_META: JsonObject = Object.freeze({});

function callOf(
  { method, target, args = {}, params = {} }: RestCallTarget,
  { principal, mode }: View,
  { exchange, endpoint }: CallOrigin,
): Call {
  const meta = exchange.http.requestSpan?.meta ?? contextOfHeaders(exchange.http) ?? NO_META;
  return new BuiltCall(linkTo(exchange, endpoint), { method, target, params, arguments: args, meta, principal, mode });
}

function linkTo(exchange: RestExchange, endpoint: string): CallerLink {
  const { takesEvents, signal } = exchange;
  const { requestSpan } = exchange.http;
  return {
    endpoint,
    client: { capabilities: {} },
    signal,
    cancellation: signal,
    wants: { progress: takesEvents, ...(takesEvents ? { logLevel: "info" } : {}) },
    relaysInput: false,
    requestSpan,
    notify: (notification) => exchange.notify(notification),
    ask: ({ method }) => Promise.reject(cannotAsk(method)),
  };
}

function cannotAsk(method: string): FailError {
  const advice = "Call the tool by MCP, where questions can be answered.";
  const message = `A caller on REST cannot be asked \`${method}\`. ${advice}`;
  return new FailError(
    fail("denied", message, { details: { ask: method }, rpcError: { code: RPC.methodNotFound, message } }),
  );
}
