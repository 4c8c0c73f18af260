import type { Cancellation } from "./cancellation.ts";
import { Shares, type Holder } from "./shares.ts";

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

/** When a principal had its last turn, and each of its connections. */
interface Turns {
  last: number;
  /** Longest ago first. */
  readonly byConnection: Map<string | undefined, number>;
}

interface Waiting {
  readonly holder: Holder;
  /** `false`: it got no place. */
  settle(isInside: boolean): void;
}

/**
 * A bound on what runs at the same time, with a bounded line of those who wait. Both are shared as `Shares` says: the
 * next place goes to whoever has the fewest, of equals to whoever had no turn for longest; and whoever has the most,
 * inside and waiting or else waiting alone, gives its last place in a full line up for a newcomer within its share.
 */
export class FairLine {
  /** How many may be inside at once. Where it becomes less, those who are inside stay. */
  places: number;
  readonly #mostWaiting: number;
  readonly #inside = new Shares();
  readonly #waiting = new Shares();
  /** Inside and waiting. */
  readonly #present = new Shares();
  /** In the order of arrival; a set, so that whoever gives up leaves in constant time. */
  readonly #line = new Set<Waiting>();
  /** Of principals that are inside or wait. */
  readonly #turns = new Map<string, Turns>();
  #turn = 0;
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
      this.#present.add(holder);
      this.#letIn(holder);
      return true;
    }
    return this.#hasRoomFor(holder) && this.#wait(holder, wait);
  }

  leave(holder: Holder): void {
    this.#inside.remove(holder);
    this.#forget(holder);
    const next = this.#next();
    // The place goes straight to the next one, so nobody who comes now can take it.
    if (next) next.settle(true);
    else this.#taken -= 1;
  }

  /** Nobody waits any longer; whoever does is sent away. */
  close(): void {
    this.#isClosed = true;
    for (const { settle } of Array.from(this.#line)) settle(false);
  }

  #hasRoomFor(newcomer: Holder): boolean {
    if (this.#line.size < this.#mostWaiting) return true;
    const inOrder = Array.from(this.#line).toReversed();
    const last =
      this.#present.debtorTo(newcomer, inOrder, { holder: holderIn }) ??
      this.#waiting.debtorTo(newcomer, inOrder, { holder: holderIn });
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
          this.#line.delete(place);
          this.#waiting.remove(holder);
          if (isInside) this.#letIn(holder);
          else this.#forget(holder);
          resolve(isInside);
        },
      };
      const restMs = (owedWaitMs ?? 0) - (waitMs ?? 0);
      const late = (): void => {
        if (restMs > 0 && this.#isOwed(holder)) timer = setTimeout(leave, restMs);
        else leave();
      };
      if (waitMs !== undefined) timer = setTimeout(late, waitMs);
      cancellation.addEventListener("abort", leave, { once: true });
      this.#line.add(place);
      this.#waiting.add(holder);
      this.#present.add(holder);
    });
  }

  /** Whether one more place would still be within the share of this principal. */
  #isOwed({ principal }: Holder): boolean {
    return (this.#inside.of(principal) + 1) * this.#present.principals <= this.places;
  }

  #letIn(holder: Holder): void {
    this.#inside.add(holder);
    this.#turn += 1;
    let turns = this.#turns.get(holder.principal);
    if (!turns) this.#turns.set(holder.principal, (turns = { last: 0, byConnection: new Map() }));
    turns.last = this.#turn;
    const { byConnection } = turns;
    byConnection.delete(holder.connection);
    byConnection.set(holder.connection, this.#turn);
    if (byConnection.size > MAX_CONNECTIONS) byConnection.delete(byConnection.keys().next().value);
  }

  #forget(holder: Holder): void {
    this.#present.remove(holder);
    if (this.#present.of(holder.principal) === 0) this.#turns.delete(holder.principal);
  }

  #next(): Waiting | undefined {
    let next: Waiting | undefined;
    for (const waiting of this.#line) if (!next || this.#isBefore(waiting.holder, next.holder)) next = waiting;
    return next;
  }

  #isBefore(one: Holder, other: Holder): boolean {
    const fewer =
      one.principal === other.principal
        ? this.#inside.compare(one, other)
        : this.#inside.of(one.principal) - this.#inside.of(other.principal);
    return (fewer || this.#lastTurn(one, other) - this.#lastTurn(other, one)) < 0;
  }

  /** Of the connection, where both are of one principal. */
  #lastTurn({ principal, connection }: Holder, other: Holder): number {
    const turns = this.#turns.get(principal);
    return (principal === other.principal ? turns?.byConnection.get(connection) : turns?.last) ?? 0;
  }
}

/** Connections of one principal of which the last turn is remembered; one that was forgotten had none. */
const MAX_CONNECTIONS = 1000;

function holderIn({ holder }: Waiting): Holder {
  return holder;
}
