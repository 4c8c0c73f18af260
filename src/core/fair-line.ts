import type { Cancellation } from "./cancellation.ts";
import { FairOrder } from "./fair-order.ts";
import type { Holder } from "./shares.ts";

export interface LineBounds {
  /** How many may be inside at once. */
  readonly places: number;
  /** How many may wait for a place. */
  readonly waiting: number;
}

export interface LineWait {
  readonly cancellation: Cancellation;
  /** Longest wait. @default as long as the cancellation allows */
  readonly waitMs?: number;
  /** The same for whoever holds less than its share, since it is its turn next. @default `waitMs` */
  readonly owedWaitMs?: number;
}

interface Waiting {
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
  readonly #order = new FairOrder<Waiting>();
  #taken = 0;
  #isClosed = false;

  constructor({ places, waiting }: LineBounds) {
    this.places = places;
    this.#mostWaiting = waiting;
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
    if (this.#taken < this.places) {
      this.#taken += 1;
      this.#order.enter(holder);
      return true;
    }
    return this.#hasRoomFor(holder) && this.#wait(holder, wait);
  }

  leave(holder: Holder): void {
    this.#order.leave(holder);
    const next = this.#order.next();
    // The place goes straight to the next one, so nobody who comes now can take it.
    if (next) next.settle(true);
    else this.#taken -= 1;
  }

  /** Nobody waits any longer; whoever does is sent away. */
  close(): void {
    this.#isClosed = true;
    for (const { settle } of this.#order.all()) settle(false);
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
      const place: Waiting = {
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
