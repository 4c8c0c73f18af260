import { CallMap } from "../../core/calls/call-map.ts";
import type { Call, CallNotification } from "../../core/calls/call.ts";
import type { RequestId } from "../../wire/messages.ts";

/**
 * Who is asked when a call is: a lasting connection, or the call itself where there is none. What a call makes on its
 * way is asked of whoever made that call.
 */
export function clientKey({ client, parent, id }: Pick<Call, "client" | "parent" | "id">): string {
  return client.connection ?? `call ${parent ?? id}`;
}

/**
 * The calls under way on one connection, and whose a notice is that does not say so. A shared connection carries the
 * calls of many callers; what cannot be told apart is given to nobody rather than to the wrong one.
 */
export class CallsInFlight {
  readonly #calls = new CallMap<RequestId, Call>();
  readonly #spoken = new WeakSet<Call>();

  add(id: RequestId, call: Call): void {
    this.#calls.set(id, call);
  }

  remove(id: RequestId): void {
    this.#calls.delete(id);
  }

  get size(): number {
    return this.#calls.size;
  }

  /** The call of this request. */
  get(id: RequestId | undefined): Call | undefined {
    return id === undefined ? undefined : this.#calls.get(id);
  }

  /** The server reported progress of this call. */
  speaks(call: Call): void {
    this.#spoken.add(call);
  }

  hasSpoken(call: Call): boolean {
    return this.#spoken.has(call);
  }

  /** All of them, the earliest first. */
  calls(): Call[] {
    return this.#calls.values();
  }

  /**
   * Hands a notice to whom it belongs: the call it came with, the only call, the latest of one client, or, when all
   * belong to one principal, each of its clients once. Returns whether somebody got it; `false` with calls under way
   * means that it could be anybody's.
   */
  tell(notification: CallNotification, related: RequestId | undefined): boolean {
    const named = this.get(related);
    if (named) return tell([named], notification);
    // It came on the stream of a request that is no call any more, or never was one.
    if (related !== undefined) return false;
    const calls = this.#calls.values();
    if (new Set(calls.map(({ principal }) => principal.id)).size > 1) return false;
    return tell(new Map(calls.map((call) => [clientKey(call), call])).values(), notification);
  }
}

function tell(calls: Iterable<Call>, notification: CallNotification): boolean {
  let isTold = false;
  for (const call of calls) {
    call.notify(notification);
    isTold = true;
  }
  return isTold;
}
