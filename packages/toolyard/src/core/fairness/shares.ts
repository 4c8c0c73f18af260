/** Who holds a place, or wants one: a principal and, where it has a lasting connection, that one of its connections. */
export interface Holder {
  readonly principal: string;
  readonly connection?: string;
}

/** Whose something is, as every call says it: it costs nothing to hand on where nobody asks whose a place is. */
export interface Caller {
  readonly principal: { readonly id: string };
  readonly client: { readonly connection?: string };
}

/** Who has what the hub itself asks for, on nobody's behalf. */
export const HUB: Holder = Object.freeze({ principal: "" });

/** For whom a caller takes a place. */
export function holderOf({ principal, client }: Caller): Holder {
  const { connection } = client;
  return connection === undefined ? { principal: principal.id } : { principal: principal.id, connection };
}

interface HeldShares {
  count: number;
  readonly byConnection: Map<string, number>;
}

export interface DebtorOptions<Place> {
  readonly holder: (place: Place) => Holder;
  /** Nobody needs any of the places at the moment. @default false */
  readonly isIdle?: boolean;
  /** Whether the first of two places of one holder goes before the other. @default it is the one named first */
  readonly isSooner?: (one: Place, other: Place) => boolean;
}

/**
 * Who holds how many places of something that is bounded for all callers together, and who gives one up for whom. The
 * one policy of the hub, whatever the places are:
 *
 * - Places are shared by principal, and the share of one principal by its connections, since without tokens everybody
 *   is one principal. Whoever is alone may have all of them: nothing is kept free for anybody.
 * - A share is the number of places, divided by those who hold or want one. When all are taken, whoever holds more than
 *   its share makes room for whoever would still hold less with one more: the one with the most first. So a newcomer
 *   within its share finds room, and nobody who holds no more than its share loses any.
 * - A place that nobody needs at the moment goes sooner: its own holder gives it up for a new one, and where there are
 *   more who want one than places, so that nobody's share is one, whoever holds none gets one of those who hold the
 *   most.
 */
export class Shares {
  readonly #held = new Map<string, HeldShares>();
  #total = 0;

  add({ principal, connection = NONE }: Holder): void {
    let held = this.#held.get(principal);
    if (!held) this.#held.set(principal, (held = { count: 0, byConnection: new Map() }));
    held.count += 1;
    this.#total += 1;
    held.byConnection.set(connection, (held.byConnection.get(connection) ?? 0) + 1);
  }

  remove({ principal, connection = NONE }: Holder): void {
    const held = this.#held.get(principal);
    const left = (held?.byConnection.get(connection) ?? 0) - 1;
    if (!held || left < 0) return;
    held.count -= 1;
    this.#total -= 1;
    if (left > 0) held.byConnection.set(connection, left);
    else held.byConnection.delete(connection);
    if (held.count === 0) this.#held.delete(principal);
  }

  /** How many of them a principal holds. */
  of(principal: string): number {
    return this.#held.get(principal)?.count ?? 0;
  }

  /** How many principals hold at least one. */
  get principals(): number {
    return this.#held.size;
  }

  /** Below 0 where `one` holds less than `other`: by principal first, then by connection. */
  compare(one: Holder, other: Holder): number {
    return this.of(one.principal) - this.of(other.principal) || this.#ofOwn(one) - this.#ofOwn(other);
  }

  /** How many this connection of the principal holds. */
  #ofOwn({ principal, connection = NONE }: Holder): number {
    return this.#held.get(principal)?.byConnection.get(connection) ?? 0;
  }

  /**
   * Of `places`, all taken, the one to be given up for one more of `newcomer`; nothing where there is none.
   */
  debtorTo<Place>(
    newcomer: Holder,
    places: Iterable<Place>,
    { holder, isIdle = false, isSooner = never }: DebtorOptions<Place>,
  ): Place | undefined {
    let debtor: Place | undefined;
    for (const place of places) {
      if (!this.#owes(holder(place), newcomer, isIdle)) continue;
      const less = debtor === undefined ? -1 : this.compare(holder(debtor), holder(place));
      if (less < 0 || (less === 0 && isSooner(place, debtor!))) debtor = place;
    }
    return debtor;
  }

  #owes(holder: Holder, newcomer: Holder, isIdle: boolean): boolean {
    if (holder.principal !== newcomer.principal) {
      const [theirs, own] = [this.of(holder.principal), this.of(newcomer.principal)];
      return owes({ theirs, own, isIdle }, { total: this.#total, others: this.#held });
    }
    if (holder.connection === newcomer.connection) return isIdle;
    const { count: total = 0, byConnection: others = NOBODY } = this.#held.get(holder.principal) ?? {};
    return owes({ theirs: this.#ofOwn(holder), own: this.#ofOwn(newcomer), isIdle }, { total, others });
  }
}

/** Those among whom places are shared, and how many they have. */
interface Among {
  readonly total: number;
  readonly others: { readonly size: number };
}

/** Two among them: who may have to give up a place, and the newcomer. */
interface Rivals {
  readonly theirs: number;
  readonly own: number;
  readonly isIdle: boolean;
}

function owes({ theirs, own, isIdle }: Rivals, { total, others }: Among): boolean {
  const share = Math.floor(total / (others.size + (own === 0 ? 1 : 0)));
  return (theirs > own + 1 && theirs > share) || (isIdle && own === 0 && share === 0);
}

const NOBODY: ReadonlyMap<string, number> = new Map();

/** The connection of whoever has none. */
const NONE = "";

function never(): boolean {
  return false;
}
