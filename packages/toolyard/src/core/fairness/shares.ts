/** The owner of a place: a principal and, if it has a lasting connection, that one of its connections. */
export interface Holder {
  readonly principal: string;
  readonly connection?: string;
}

/** The owner as every call carries it, so that passing it on costs nothing. */
export interface Caller {
  readonly principal: { readonly id: string };
  readonly client: { readonly connection?: string };
}

/** Holder of what the hub requests itself, on behalf of no principal. */
export const HUB: Holder = Object.freeze({ principal: "" });

/** Returns the holder for whom a caller takes a place. */
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
  /** True if no work uses the places at the moment. @default false */
  readonly isIdle?: boolean;
  /**
   * Returns whether the first of two places of one holder is given up before the other. @default the one listed first
   */
  readonly isSooner?: (one: Place, other: Place) => boolean;
}

/**
 * The places of a shared limit by holder, and the rule by which one holder gives up a place for another. The only such
 * policy of the hub, for all kinds of places:
 *
 * - Places are shared by principal, and one principal's share by its connections, since without tokens all callers are
 * one principal. A single holder may have all places: none is kept free.
 * - A share is the number of places divided by the holders that have or request one. When all are taken, a holder with
 * more than its share makes room for one that would still hold less after it: the one with the most first. So a
 * newcomer within its share gets a place, and a holder within its share loses none.
 * - An idle place is given up sooner: its own holder replaces it with a new one. With more requesting holders than
 * places, where each share is below one, a holder of none gets an idle place of the holder with the most.
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

  /** Returns the number of places of a principal. */
  of(principal: string): number {
    return this.#held.get(principal)?.count ?? 0;
  }

  /** Number of principals with at least one place. */
  get principals(): number {
    return this.#held.size;
  }

  /** Returns a value below 0 if `one` holds less than `other`: by principal first, then by connection. */
  compare(one: Holder, other: Holder): number {
    return this.of(one.principal) - this.of(other.principal) || this.#ofOwn(one) - this.#ofOwn(other);
  }

  /** Returns the number of places of this connection of the principal. */
  #ofOwn({ principal, connection = NONE }: Holder): number {
    return this.#held.get(principal)?.byConnection.get(connection) ?? 0;
  }

  /**
   * Returns the place, of `places` that are all taken, to give up for one of `newcomer`; `undefined` if there is none.
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

/** The holders among which places are shared, and their total. */
interface Among {
  readonly total: number;
  readonly others: { readonly size: number };
}

/** Two holders: the one that may lose a place, and the newcomer. */
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

/** The connection of a holder without one. */
const NONE = "";

function never(): boolean {
  return false;
}
