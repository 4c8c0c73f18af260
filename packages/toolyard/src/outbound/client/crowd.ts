import { FairOrder } from "../../core/fairness/fair-order.ts";
import type { Holder } from "../../core/fairness/shares.ts";
import type { AnswerSink } from "./answer-sink.ts";
import { Http1Fault } from "./http1/fault.ts";

/** A request that can wait for a connection. */
export interface QueuedRequest {
  readonly holder: Holder;
  readonly sink: Pick<AnswerSink, "fail">;
}

/** Maximum number of requests to one origin that wait for a connection. */
const MAX_WAITING = 10_000;

/**
 * Requests that wait for a connection to one origin, and the holders of the connections. `FairOrder` chooses the next
 * one. While no request waits, nothing is stored, so a request that gets a connection immediately costs nothing.
 */
export class Crowd<Place, Request extends QueuedRequest> {
  readonly #taken: () => Iterable<readonly [Place, Holder]>;
  readonly #holders = new Map<Place, Holder>();
  /** Present while requests wait. */
  #order: FairOrder<Request> | undefined;

  /** `taken` returns the holders of the connections. It is called when the first request must wait. */
  constructor(taken: () => Iterable<readonly [Place, Holder]>) {
    this.#taken = taken;
  }

  /**
   * Adds a request to the queue. If the queue is full, rejects either the new request or the queued one that it
   * displaces.
   */
  join(request: Request): void {
    const order = (this.#order ??= this.#begin());
    if (order.size >= MAX_WAITING) {
      const debtor = order.debtorTo(request.holder);
      (debtor ?? request).sink.fail(crowded());
      if (!debtor) return;
      order.stopWaiting(debtor);
    }
    order.wait(request);
  }

  /** Removes a request from the queue. */
  leave(request: Request): void {
    if (this.#order?.stopWaiting(request) && this.#order.size === 0) this.#end();
  }

  /** Records the holder of a connection. */
  took(place: Place, { holder }: Request): void {
    if (!this.#order) return;
    this.#order.enter(holder);
    this.#holders.set(place, holder);
  }

  /** Records that a connection is free. */
  freed(place: Place): void {
    const holder = this.#order && this.#holders.get(place);
    if (!holder) return;
    this.#holders.delete(place);
    this.#order!.leave(holder);
  }

  /** Removes and returns the next request. */
  next(): Request | undefined {
    const next = this.#order?.next();
    if (next) this.leave(next);
    return next;
  }

  /** Rejects all queued requests with `error`. */
  close(error: Error): void {
    for (const { sink } of this.#order?.all() ?? []) sink.fail(error);
    this.#end();
  }

  #begin(): FairOrder<Request> {
    const order = new FairOrder<Request>();
    for (const [place, holder] of this.#taken()) {
      order.enter(holder);
      this.#holders.set(place, holder);
    }
    return order;
  }

  #end(): void {
    this.#order = undefined;
    this.#holders.clear();
  }
}

function crowded(): Http1Fault {
  return new Http1Fault("TOOLYARD_CROWDED", "Too many requests wait for a connection.");
}

/** Returns the failure of requests that run or arrive after the connections are closed. */
export function closed(): Http1Fault {
  return new Http1Fault("TOOLYARD_CLOSED", "The connections to the server were closed.");
}
