import { CallMap } from "../../core/calls/call-map.ts";
import type { Call, CallNotification } from "../../core/calls/call.ts";
import type { RequestId } from "../../wire/messages.ts";

/**
 * Returns the key of the client that answers server requests of a call: its lasting connection, or else the call
 * itself. For a call made by another call, the outer call is used.
 */
export function clientKey({ client, parent, id }: Pick<Call, "client" | "parent" | "id">): string {
  return client.connection ?? `call ${parent ?? id}`;
}

/**
 * The calls in flight on one connection. Finds the call to which a notification without an id belongs. On a connection
 * that many callers share, an ambiguous notification is dropped, so that no caller gets the notification of another.
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

  /** Returns the call of this request. */
  get(id: RequestId | undefined): Call | undefined {
    return id === undefined ? undefined : this.#calls.get(id);
  }

  /** Records that the server reported progress of this call. */
  speaks(call: Call): void {
    this.#spoken.add(call);
  }

  hasSpoken(call: Call): boolean {
    return this.#spoken.has(call);
  }

  /** Returns all calls, the earliest first. */
  calls(): Call[] {
    return this.#calls.values();
  }

  /**
   * Delivers a notification: to the call of its stream, to the only call, to the latest call of a single client, or, if
   * all calls belong to one principal, once to each of its clients. Returns whether the notification was delivered. If
   * it was not and calls are in flight, it is ambiguous.
   */
  tell(notification: CallNotification, related: RequestId | undefined): boolean {
    const named = this.get(related);
    if (named) return tell([named], notification);
    // The notification arrived on the stream of a request that has ended or is not a call, so it belongs to no call.
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
