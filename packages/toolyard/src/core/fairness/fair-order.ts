import { Shares, type Holder } from "./shares.ts";

/** When a principal had its last turn, and each of its connections. */
interface TurnTimes {
  last: number;
  /** Longest ago first. */
  readonly byConnection: Map<string | undefined, number>;
}

/** Those of one connection, with when each came: in their order. */
type ConnectionQueue<Waiting> = Map<Waiting, number>;

/**
 * Who has the places of something that is bounded for everybody, who waits for one, and whose turn is next. Both are
 * shared as `Shares` says: the next place goes to whoever has the fewest, of equals to whoever had no turn for longest;
 * and whoever has the most, inside and waiting or else waiting alone, gives its last place in a full line up for a
 * newcomer within its share. It grants nothing and holds nobody back: `FairLine` does, and whatever has places of its
 * own.
 */
export class FairOrder<Waiting extends { readonly holder: Holder }> {
  readonly #inside = new Shares();
  readonly #waiting = new Shares();
  /** Inside and waiting. */
  readonly #present = new Shares();
  /** By principal and by connection, so that whose turn is next takes no look at each of those who wait. */
  readonly #lines = new Map<string, Map<string | undefined, ConnectionQueue<Waiting>>>();
  #size = 0;
  #arrivals = 0;
  /** Of principals that are inside or wait. */
  readonly #turns = new Map<string, TurnTimes>();
  #turn = 0;

  /** How many wait. */
  get size(): number {
    return this.#size;
  }

  /** How many principals have a place. */
  get principalsInside(): number {
    return this.#inside.principals;
  }

  placesOf(principal: string): number {
    return this.#inside.of(principal);
  }

  /** One who waits no more, or never had to, has a place now. */
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

  /** It waits no longer, be it that it enters or that it goes. Returns whether it did. */
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

  /** All who wait, in the order in which they came. */
  all(): Waiting[] {
    const entries = Array.from(this.#each()).flatMap((line) => Array.from(line));
    return entries.toSorted(([, one], [, other]) => one - other).map(([waiting]) => waiting);
  }

  /** Whose turn is next; it goes on waiting. */
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

  /** Who of those who wait gives up its place in a full line for this newcomer; nothing where nobody has to. */
  debtorTo(newcomer: Holder): Waiting | undefined {
    const latest = Array.from(this.#each(), latestOf).toSorted(([, one], [, other]) => other - one);
    const places = latest.map(([waiting]) => waiting);
    return (
      this.#present.debtorTo(newcomer, places, { holder: holderIn }) ??
      this.#waiting.debtorTo(newcomer, places, { holder: holderIn })
    );
  }

  /** Whether, of so many places, one more would still be within the share of this principal. */
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

  /** Below 0 where it is the turn of `one` before that of `other`. */
  #compare(one: Holder, other: Holder): number {
    const fewer =
      one.principal === other.principal
        ? this.#inside.compare(one, other)
        : this.#inside.of(one.principal) - this.#inside.of(other.principal);
    return fewer || this.#lastTurn(one, other) - this.#lastTurn(other, one);
  }

  /** Of the connection, where both are of one principal. */
  #lastTurn({ principal, connection }: Holder, other: Holder): number {
    const turns = this.#turns.get(principal);
    return (principal === other.principal ? turns?.byConnection.get(connection) : turns?.last) ?? 0;
  }
}

/** Connections of one principal of which the last turn is remembered; one that was forgotten had none. */
const MAX_CONNECTIONS = 1000;

function latestOf<Waiting>(line: ConnectionQueue<Waiting>): [Waiting, number] {
  let latest!: [Waiting, number];
  for (latest of line);
  return latest;
}

function holderIn({ holder }: { readonly holder: Holder }): Holder {
  return holder;
}
