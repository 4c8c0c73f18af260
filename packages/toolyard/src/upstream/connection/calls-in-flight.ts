import { CallMap } from "../../core/calls/call-map.ts";
import type { Call, CallNotification } from "../../core/calls/call.ts";
import type { RequestId } from "../../wire/messages.ts";
import { clientKey } from "./turns.ts";

/**
 * The calls in flight on one connection. Finds the call to which a notification without an id belongs. On a connection
 * that many callers share, an ambiguous notification is dropped, so that no caller gets the notification of another.
 */
export class CallsInFlight extends CallMap<RequestId, Call> {
  readonly #spoken = new WeakSet<Call>();

  /** Returns the call of this request. */
  override get(id: RequestId | undefined): Call | undefined {
    return id === undefined ? undefined : super.get(id);
  }

  /** Records that the server reported progress of this call. */
  speaks(call: Call): void {
    this.#spoken.add(call);
  }

  hasSpoken(call: Call): boolean {
    return this.#spoken.has(call);
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
    const calls = this.values();
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
