import type { ServerRequest, Call } from "../../core/calls/call.ts";
import { FailError } from "../../core/errors.ts";
import type { JsonObject } from "../../core/json/json.ts";
import { fail, type Fail } from "../../core/calls/outcome.ts";
import type { RequestId } from "../../wire/messages.ts";
import { clientKey } from "./turns.ts";

/**
 * Maximum time until the caller of a server request must be found; at most half of the remaining time of its calls.
 */
const MAX_PATIENCE_MS = 30_000;

/** The result of a server request. */
export type ServerRequestAnswer = { readonly result: JsonObject } | { readonly failure: Fail };

/** One request of a server to a caller, from its arrival until it is answered or withdrawn. */
export class OpenServerRequest {
  readonly ask: ServerRequest;
  /** Calls that have been in flight since the request arrived. One of them caused the request. */
  readonly calls: Set<Call>;
  readonly from: { readonly id: RequestId; readonly related: RequestId | undefined };
  /** The client that must answer the request; absent until it is assigned. */
  client: string | undefined;
  /** The call with which the request is sent to that client. */
  carrier: Call | undefined;
  isOver = false;
  isOverdue = false;
  readonly #withdrawal = new AbortController();
  readonly #holds = new Map<Call, () => void>();
  #patience: NodeJS.Timeout | undefined;

  constructor(ask: ServerRequest, calls: readonly Call[], from: OpenServerRequest["from"]) {
    // The request is marked, because it may belong to another call than its carrier, and must then not end with the
    // carrier.
    this.ask = calls.length > 1 ? { ...ask, outlivesCall: true } : ask;
    this.calls = new Set(calls);
    this.from = from;
  }

  /** Starts the wait for the request's caller. Calls `onOverdue` at the time limit. */
  startPatience(onOverdue: () => void): void {
    const left = Array.from(this.calls, ({ deadline }) => (deadline?.remainingMs ?? Infinity) / 2);
    this.#patience = setTimeout(
      () => {
        this.isOverdue = true;
        onOverdue();
      },
      Math.min(MAX_PATIENCE_MS, ...left),
    );
  }

  endPatience(): void {
    clearTimeout(this.#patience);
  }

  /**
   * Sends the request to the caller of `call`. While a user is asked, the idle timers of all calls that may have caused
   * the request are paused.
   */
  async put(call: Call): Promise<ServerRequestAnswer> {
    this.client = clientKey(call);
    this.carrier = call;
    for (const one of this.calls) if (one.deadline && !this.#holds.has(one)) this.#holds.set(one, one.deadline.hold());
    try {
      return { result: await call.ask(this.ask, this.#withdrawal.signal) };
    } catch (error) {
      return {
        failure:
          error instanceof FailError
            ? error.failure
            : fail("internal", "The hub failed while it sent a request to the caller. Its log has the details.", {
                cause: error,
              }),
      };
    }
  }

  /** Removes the assignment to a client that has disconnected. */
  takeFrom(): void {
    this.client = undefined;
    this.carrier = undefined;
  }

  /** Removes a call that has ended from the calls that may have caused the request. */
  without(call: Call): void {
    this.calls.delete(call);
    this.#holds.get(call)?.();
    this.#holds.delete(call);
  }

  /** Ends the request. If a client has received it, the client gets a cancellation. */
  end(failure: Fail): void {
    this.isOver = true;
    this.endPatience();
    for (const release of this.#holds.values()) release();
    this.#holds.clear();
    this.#withdrawal.abort(new FailError(failure));
  }
}
