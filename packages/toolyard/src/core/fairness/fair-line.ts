import type { Cancellation } from "../calls/cancellation.ts";
import { processActivity } from "../process-activity.ts";
import { FairOrder } from "./fair-order.ts";
import type { Holder } from "./shares.ts";

export interface LineBounds {
  /** Maximum number of concurrent entries inside. */
  readonly places: number;
  /** Maximum number of entries that wait for a place. */
  readonly waiting: number;
  /**
   * Number of principals that are known to use the line. If given, a principal with a place gets a further place only
   * if one place stays free for each principal without a place, up to half of the places. @default no place is kept
   * free
   */
  readonly principals?: number;
}

export interface LineWait {
  readonly cancellation: Cancellation;
  /** Maximum wait, in milliseconds. @default until the cancellation */
  readonly waitMs?: number;
  /** Maximum wait of the next entry if its principal has less than its share. @default `waitMs` */
  readonly owedWaitMs?: number;
}

interface Waiter {
  readonly holder: Holder;
  /** Ends the wait; `false` means that the entry got no place. */
  settle(isInside: boolean): void;
}

/**
 * Concurrency limit with a limited queue of waiting entries. `FairOrder` decides which entry is next and which entry is
 * displaced.
 */
export class FairLine {
  /** Maximum number of concurrent entries inside. If it is lowered, entries that are inside stay. */
  places: number;
  readonly #mostWaiting: number;
  readonly #order = new FairOrder<Waiter>();
  readonly #principals: number | undefined;
  /**
   * Principals seen so far. At most as many as there are places are recorded, because more do not change the result.
   */
  readonly #seen = new Set<string>();
  #taken = 0;
  #isClosed = false;

  constructor({ places, waiting, principals }: LineBounds) {
    this.places = places;
    this.#mostWaiting = waiting;
    this.#principals = principals;
  }

  /** True if no entry is inside. */
  get isEmpty(): boolean {
    return this.#taken === 0;
  }

  /**
   * Resolves to true when the entry has a place, which `leave` returns. Resolves to false if too many entries wait, the
   * wait expires, or the cancellation comes first.
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
    // The next entry belongs to the holder with the fewest places: if it must wait, all others must wait too. Places
    // are passed on synchronously, so that no new entry can take them.
    for (let next = this.#order.next(); next && this.#hasPlaceFor(next.holder); next = this.#order.next()) {
      this.#taken += 1;
      next.settle(true);
    }
  }

  /** Closes the line and rejects all waiting entries. */
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
      let isWaiting = true;
      processActivity.queued += 1;
      const leave = (): void => place.settle(false);
      const place: Waiter = {
        holder,
        settle: (isInside) => {
          if (isWaiting) processActivity.queued -= 1;
          isWaiting = false;
          clearTimeout(timer);
          cancellation.removeEventListener("abort", leave);
          // The entry enters before it stops waiting, because a principal without any entries would be removed.
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
