import { FairOrder } from "../../core/fairness/fair-order.ts";
import type { Holder } from "../../core/fairness/shares.ts";
import type { AnswerSink } from "./answer-sink.ts";
import { Http1Fault } from "./http1/fault.ts";

/** A request that can wait for a connection. */
export interface Waiting {
  readonly holder: Holder;
  readonly sink: Pick<AnswerSink, "fail">;
}

/** Requests to one origin that wait for a connection. */
const MAX_WAITING = 10_000;

/**
 * Those who wait for a connection to one origin, and whose the connections are meanwhile: who is next is as `FairOrder`
 * says. As long as nobody waits it keeps nothing, so a request that finds a connection costs nothing here.
 */
export class Crowd<Place, Request extends Waiting> {
  readonly #taken: () => Iterable<readonly [Place, Holder]>;
  readonly #holders = new Map<Place, Holder>();
  /** Present while somebody waits. */
  #order: FairOrder<Request> | undefined;

  /** `taken` says whose the connections are, for when the first one has to wait. */
  constructor(taken: () => Iterable<readonly [Place, Holder]>) {
    this.#taken = taken;
  }

  /** Whoever has no place in a full line is failed: this one, or the one that makes room for it. */
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

  /** It waits no longer. */
  leave(request: Request): void {
    if (this.#order?.stopWaiting(request) && this.#order.size === 0) this.#end();
  }

  /** A connection is somebody's now. */
  took(place: Place, { holder }: Request): void {
    if (!this.#order) return;
    this.#order.enter(holder);
    this.#holders.set(place, holder);
  }

  /** A connection is nobody's any more. */
  freed(place: Place): void {
    const holder = this.#order && this.#holders.get(place);
    if (!holder) return;
    this.#holders.delete(place);
    this.#order!.leave(holder);
  }

  /** Whose turn it is; it waits no longer. */
  next(): Request | undefined {
    const next = this.#order?.next();
    if (next) this.leave(next);
    return next;
  }

  /** Fails all who wait. */
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

/** The failure of whatever is under way, or comes, once the connections are closed. */
export function closed(): Http1Fault {
  return new Http1Fault("TOOLYARD_CLOSED", "The connections to the server were closed.");
}
