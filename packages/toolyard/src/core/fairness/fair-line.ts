import type { Cancellation } from "../calls/cancellation.ts";
import { FairOrder } from "./fair-order.ts";
import type { Holder } from "./shares.ts";

export interface LineBounds {
  /** How many may be inside at once. */
  readonly places: number;
  /** How many may wait for a place. */
  readonly waiting: number;
  /**
   * How many principals are known to use it. Given: a principal that is inside enters again only while a place stays
   * free for each other principal that is not, up to half of the places. @default no place is kept free
   */
  readonly principals?: number;
}

export interface LineWait {
  readonly cancellation: Cancellation;
  /** Longest wait. @default as long as the cancellation allows */
  readonly waitMs?: number;
  /** The same for whoever holds less than its share, since it is its turn next. @default `waitMs` */
  readonly owedWaitMs?: number;
}

interface Waiter {
  readonly holder: Holder;
  /** `false`: it got no place. */
  settle(isInside: boolean): void;
}

/**
 * A bound on what runs at the same time, with a bounded line of those who wait: who is next, and who gives up its place
 * in the line, is as `FairOrder` says.
 */
export class FairLine {
  /** How many may be inside at once. Where it becomes less, those who are inside stay. */
  places: number;
  readonly #mostWaiting: number;
  readonly #order = new FairOrder<Waiter>();
  readonly #principals: number | undefined;
  /** Principals that came so far; no more than there are places, because more make no difference. */
  readonly #seen = new Set<string>();
  #taken = 0;
  #isClosed = false;

  constructor({ places, waiting, principals }: LineBounds) {
    this.places = places;
    this.#mostWaiting = waiting;
    this.#principals = principals;
  }

  /** Nobody is inside. */
  get isEmpty(): boolean {
    return this.#taken === 0;
  }

  /**
   * Resolves with `true` once there is a place, which is given back by `leave`; with `false` when too many wait, when
   * the wait is over, or when the cancellation comes first.
   */
  async enter(holder: Holder, wait: LineWait): Promise<boolean> {
    if (this.#isClosed || wait.cancellation.aborted) return false;
    if (this.#seen.size < this.places) this.#seen.add(holder.principal);
    if (this.#hasPlaceFor(holder)) {
      this.#taken += 1;
      this.#order.enter(holder);
      return true;
    }
    return this.#hasRoomFor(holder) && this.#wait(holder, wait);
  }

  leave(holder: Holder): void {
    this.#order.leave(holder);
    this.#taken -= 1;
    // The next one has the fewest places: if it has to wait, so do all others. Places are passed on in the same turn,
    // so no newcomer can take them.
    for (let next = this.#order.next(); next && this.#hasPlaceFor(next.holder); next = this.#order.next()) {
      this.#taken += 1;
      next.settle(true);
    }
  }

  /** Nobody waits any longer; whoever does is sent away. */
  close(): void {
    this.#isClosed = true;
    for (const { settle } of this.#order.all()) settle(false);
  }

  #hasPlaceFor({ principal }: Holder): boolean {
    const free = this.places - this.#taken;
    if (free <= 0 || this.#principals === undefined || this.#order.placesOf(principal) === 0) return free > 0;
    const others = Math.max(this.#principals, this.#seen.size) - this.#order.principalsInside;
    return free > Math.min(others, Math.floor(this.places / 2));
  }

  #hasRoomFor(newcomer: Holder): boolean {
    if (this.#order.size < this.#mostWaiting) return true;
    const last = this.#order.debtorTo(newcomer);
    last?.settle(false);
    return last !== undefined;
  }

  #wait(holder: Holder, { cancellation, waitMs, owedWaitMs = waitMs }: LineWait): Promise<boolean> {
    return new Promise((resolve) => {
      let timer: NodeJS.Timeout | undefined;
      const leave = (): void => place.settle(false);
      const place: Waiter = {
        holder,
        settle: (isInside) => {
          clearTimeout(timer);
          cancellation.removeEventListener("abort", leave);
          // Entered first, so that it is never gone: whoever is gone is forgotten.
          if (isInside) this.#order.enter(holder);
          this.#order.stopWaiting(place);
          resolve(isInside);
        },
      };
      const restMs = (owedWaitMs ?? 0) - (waitMs ?? 0);
      const late = (): void => {
        if (restMs > 0 && this.#order.isOwed(holder, this.places)) timer = setTimeout(leave, restMs);
        else leave();
      };
      if (waitMs !== undefined) timer = setTimeout(late, waitMs);
      cancellation.addEventListener("abort", leave, { once: true });
      this.#order.wait(place);
    });
  }
}
