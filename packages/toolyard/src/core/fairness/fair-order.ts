import { Shares, type Holder } from "./shares.ts";

/** Times at which a principal, and each of its connections, last got a place. */
interface TurnTimes {
  last: number;
  /** Time of the last place of each connection, the oldest first. */
  readonly byConnection: Map<string | undefined, number>;
}

/** Waiting entries of one connection with their arrival times, in order. */
type ConnectionQueue<Waiting> = Map<Waiting, number>;

/**
 * Tracks the entries that hold places of a shared limit or wait for them, and decides which entry is next. Shares are
 * those of `Shares`. The next place goes to the holder with the fewest places, and among equals to the holder that last
 * got a place the longest time ago. In a full line, a new entry whose holder is within its share displaces the last
 * waiting entry of the holder with the most entries: inside and waiting, or only waiting if no holder has more than its
 * share. This class grants and blocks nothing; `FairLine` and other limits do.
 */
export class FairOrder<Waiting extends { readonly holder: Holder }> {
  readonly #inside = new Shares();
  readonly #waiting = new Shares();
  /** Shares of all entries, inside and waiting. */
  readonly #present = new Shares();
  /** Waiting entries by principal and connection, so that the search for the next entry does not scan all of them. */
  readonly #lines = new Map<string, Map<string | undefined, ConnectionQueue<Waiting>>>();
  #size = 0;
  #arrivals = 0;
  /** Times of the last places of the principals that hold a place or wait. */
  readonly #turns = new Map<string, TurnTimes>();
  #turn = 0;

  /** Number of waiting entries. */
  get size(): number {
    return this.#size;
  }

  /** Number of principals that hold at least one place of the limit. */
  get principalsInside(): number {
    return this.#inside.principals;
  }

  placesOf(principal: string): number {
    return this.#inside.of(principal);
  }

  /** Records that a holder got a place. */
  enter(holder: Holder): void {
    this.#present.add(holder);
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

  leave(holder: Holder): void {
    this.#inside.remove(holder);
    this.#forget(holder);
  }

  wait(waiting: Waiting): void {
    const { holder } = waiting;
    let lines = this.#lines.get(holder.principal);
    if (!lines) this.#lines.set(holder.principal, (lines = new Map()));
    let line = lines.get(holder.connection);
    if (!line) lines.set(holder.connection, (line = new Map()));
    line.set(waiting, (this.#arrivals += 1));
    this.#size += 1;
    this.#waiting.add(holder);
    this.#present.add(holder);
  }

  /** Removes a waiting entry that enters or leaves. Returns true if it was waiting. */
  stopWaiting(waiting: Waiting): boolean {
    const { holder } = waiting;
    const lines = this.#lines.get(holder.principal);
    const line = lines?.get(holder.connection);
    if (!lines || !line?.delete(waiting)) return false;
    if (line.size === 0) lines.delete(holder.connection);
    if (lines.size === 0) this.#lines.delete(holder.principal);
    this.#size -= 1;
    this.#waiting.remove(holder);
    this.#forget(holder);
    return true;
  }

  /** Returns all waiting entries, in order of arrival. */
  all(): Waiting[] {
    const entries = Array.from(this.#each()).flatMap((line) => Array.from(line));
    return entries.toSorted(([, one], [, other]) => one - other).map(([waiting]) => waiting);
  }

  /** Returns the entry that gets the next place. The entry keeps waiting until `stopWaiting` is called. */
  next(): Waiting | undefined {
    let first: Waiting | undefined;
    let firstAt = 0;
    for (const line of this.#each()) {
      const [waiting, at] = line.entries().next().value!;
      const order = first ? this.#compare(waiting.holder, first.holder) || at - firstAt : -1;
      if (order >= 0) continue;
      [first, firstAt] = [waiting, at];
    }
    return first;
  }

  /** Returns the waiting entry that `newcomer` displaces in a full line. Returns `undefined` if it displaces none. */
  debtorTo(newcomer: Holder): Waiting | undefined {
    const latest = Array.from(this.#each(), latestOf).toSorted(([, one], [, other]) => other - one);
    const places = latest.map(([waiting]) => waiting);
    return (
      this.#present.debtorTo(newcomer, places, { holder: holderIn }) ??
      this.#waiting.debtorTo(newcomer, places, { holder: holderIn })
    );
  }

  /** Returns true if this principal's share of the places includes a further place. */
  isOwed({ principal }: Holder, places: number): boolean {
    return (this.#inside.of(principal) + 1) * this.#present.principals <= places;
  }

  *#each(): Iterable<ConnectionQueue<Waiting>> {
    for (const lines of this.#lines.values()) yield* lines.values();
  }

  #forget(holder: Holder): void {
    this.#present.remove(holder);
    if (this.#present.of(holder.principal) === 0) this.#turns.delete(holder.principal);
  }

  /** Returns a value below 0 if the holder `one` gets a place before `other`. */
  #compare(one: Holder, other: Holder): number {
    const fewer =
      one.principal === other.principal
        ? this.#inside.compare(one, other)
        : this.#inside.of(one.principal) - this.#inside.of(other.principal);
    return fewer || this.#lastTurn(one, other) - this.#lastTurn(other, one);
  }

  /**
   * Returns the time at which a holder last got a place: its connection if both holders belong to one principal,
   * otherwise its principal.
   */
  #lastTurn({ principal, connection }: Holder, other: Holder): number {
    const turns = this.#turns.get(principal);
    return (principal === other.principal ? turns?.byConnection.get(connection) : turns?.last) ?? 0;
  }
}

/**
 * Maximum number of connections per principal whose last place is recorded. A connection without a record counts as
 * never served.
 */
const MAX_CONNECTIONS = 1000;

function latestOf<Waiting>(line: ConnectionQueue<Waiting>): [Waiting, number] {
  let latest!: [Waiting, number];
  for (latest of line);
  return latest;
}

function holderIn({ holder }: { readonly holder: Holder }): Holder {
  return holder;
}
