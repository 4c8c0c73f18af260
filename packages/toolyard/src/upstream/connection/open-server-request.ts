import type { ServerRequest, Call } from "../../core/calls/call.ts";
import { FailError } from "../../core/errors.ts";
import type { JsonObject } from "../../core/json/json.ts";
import { fail, type Fail } from "../../core/calls/outcome.ts";
import type { RequestId } from "../../wire/messages.ts";
import { clientKey } from "./calls-in-flight.ts";

/** A question whose caller is not found waits no longer than this, nor longer than half of what its calls have left. */
const MAX_PATIENCE_MS = 30_000;

/** What a server's question came to. */
export type ServerRequestAnswer = { readonly result: JsonObject } | { readonly failure: Fail };

/** One request that a server makes of its callers, from its arrival until it is answered or taken back. */
export class OpenServerRequest {
  readonly ask: ServerRequest;
  /** Calls that were under way when it came and are still: one of them asked. */
  readonly calls: Set<Call>;
  readonly from: { readonly id: RequestId; readonly related: RequestId | undefined };
  /** The client that has it to answer; absent while nobody has. */
  client: string | undefined;
  /** The call that puts it to that client. */
  carrier: Call | undefined;
  isOver = false;
  isOverdue = false;
  readonly #withdrawal = new AbortController();
  readonly #holds = new Map<Call, () => void>();
  #patience: NodeJS.Timeout | undefined;

  constructor(ask: ServerRequest, calls: readonly Call[], from: OpenServerRequest["from"]) {
    // Where it may be another call's than the one that carries it, it lives longer than that.
    this.ask = calls.length > 1 ? { ...ask, outlivesCall: true } : ask;
    this.calls = new Set(calls);
    this.from = from;
  }

  /** Calls back when it has waited for its caller as long as it may. */
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
   * Puts it to the caller of `call`. Meanwhile a person is waited for, so no call that may have asked runs out of its
   * idle time.
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
            : fail("internal", "The hub failed while it asked the caller. The log says more.", { cause: error }),
      };
    }
  }

  /** Whoever had it to answer has gone. */
  takeFrom(): void {
    this.client = undefined;
    this.carrier = undefined;
  }

  /** The call is over. */
  without(call: Call): void {
    this.calls.delete(call);
    this.#holds.get(call)?.();
    this.#holds.delete(call);
  }

  /** Ends it; whoever is being asked is told to forget it. */
  end(failure: Fail): void {
    this.isOver = true;
    this.endPatience();
    for (const release of this.#holds.values()) release();
    this.#holds.clear();
    this.#withdrawal.abort(new FailError(failure));
  }
}
