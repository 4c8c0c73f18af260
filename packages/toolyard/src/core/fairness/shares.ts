/** Owner of a place: a principal and, if it has a lasting connection, that connection. */
export interface Holder {
  readonly principal: string;
  readonly connection?: string;
}

/** Owner of a place in the form that every call already has, so that no object must be created for it. */
export interface Caller {
  readonly principal: { readonly id: string };
  readonly client: { readonly connection?: string };
}

/** Holder of requests that the hub makes for itself and not for a principal. */
export const HUB: Holder = Object.freeze({ principal: "" });

/** Returns the holder that gets a place for this caller. */
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
  /** True if no work currently uses the place. @default false */
  readonly isIdle?: boolean;
  /**
   * Returns true if `one` is given up before `other`; both belong to the same holder. @default the place that is listed
   * first
   */
  readonly isSooner?: (one: Place, other: Place) => boolean;
}

/**
 * Places of a shared limit by holder, and the rule by which a holder gives up a place for another holder. All limits of
 * the hub use this rule.
 *
 * - Places are shared by principal, and the share of a principal by its connections, since without tokens all callers
 * are one principal. A single holder may have all places; no place is kept free.
 * - A share is the number of places divided by the number of holders that have or request a place. When all places are
 * taken, a holder with more than its share gives up a place for a holder that would still have fewer places afterwards;
 * the holder with the most places is first. So a new holder within its share gets a place, and a holder within its
 * share loses none.
 * - An idle place is given up sooner: its own holder replaces it by a new place. If there are more holders than places,
 * each share is below one; then a holder without a place gets an idle place of the holder with the most.
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

  /**
   * Returns a value below 0 if `one` holds fewer places than `other`: compared by principal first, then by connection.
   */
  compare(one: Holder, other: Holder): number {
    return this.of(one.principal) - this.of(other.principal) || this.#ofOwn(one) - this.#ofOwn(other);
  }

  /** Returns the number of places that this connection of the principal holds. */
  #ofOwn({ principal, connection = NONE }: Holder): number {
    return this.#held.get(principal)?.byConnection.get(connection) ?? 0;
  }

  /**
   * Returns the place to give up for `newcomer`, when all `places` are taken. Returns `undefined` if no holder must
   * give one up.
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

/** Holders that share places, and the total number of places. */
interface Among {
  readonly total: number;
  readonly others: { readonly size: number };
}

/** Places of two holders: `theirs` of the one that may lose a place, `own` of the newcomer. */
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

/** Key for holders without a connection. */
const NONE = "";

function never(): boolean {
  return false;
}
