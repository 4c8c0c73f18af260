import type { Principal } from "../../../core/calls/call.ts";
import { Shares, type Holder } from "../../../core/fairness/shares.ts";

/** A session as the table looks at it. */
export interface TableEntry {
  readonly id: string;
  readonly principalId: string;
  /** Neither answers anything nor has anybody listening. */
  readonly isIdle: boolean;
  /** Answers something. */
  readonly isBusy: boolean;
  /** When it was seen to be in use last, be it that somebody only listens. */
  lastSeenAt: number;
  /** When a request named it last. */
  usedAt: number;
  /** Callers know its id from now on. */
  list(): void;
  close(): void;
}

export interface SessionTableLimits {
  readonly idleMs: number;
  readonly maxSessions: number;
}

/** The sessions of one door. */
export class SessionTable<Entry extends TableEntry> {
  readonly #limits: SessionTableLimits;
  readonly #sessions = new Map<string, Entry>();
  readonly #shares = new Shares();

  constructor(limits: SessionTableLimits) {
    this.#limits = limits;
  }

  get size(): number {
    return this.#sessions.size;
  }

  /** False when the table is full of sessions that are at work, or are others' by right. */
  add(session: Entry): boolean {
    if (this.#sessions.size >= this.#limits.maxSessions && !this.#makeRoomFor(ownerOf(session))) return false;
    this.#sessions.set(session.id, session);
    session.list();
    this.#shares.add(ownerOf(session));
    return true;
  }

  /** The caller's own session of that id, which counts as used now. Somebody else's does not exist. */
  use(id: string, principal: Principal): Entry | undefined {
    const session = this.#sessions.get(id);
    if (!session || session.principalId !== principal.id) return undefined;
    session.usedAt = session.lastSeenAt = performance.now();
    return session;
  }

  /** The session of that id, whosever it is. */
  find(id: string): Entry | undefined {
    return this.#sessions.get(id);
  }

  end(session: Entry): void {
    if (this.#sessions.delete(session.id)) this.#shares.remove(ownerOf(session));
    session.close();
  }

  /** Ends what has been idle for too long. */
  sweep(now: number): void {
    for (const session of Array.from(this.#sessions.values())) {
      if (!session.isIdle) session.lastSeenAt = now;
      else if (now - session.lastSeenAt > this.#limits.idleMs) this.end(session);
    }
  }

  *[Symbol.iterator](): IterableIterator<Entry> {
    yield* this.#sessions.values();
  }

  close(): void {
    for (const session of Array.from(this.#sessions.values())) this.end(session);
  }

  /**
   * Ends the session of whoever owes the newcomer one: the one that is idle for longest, else the one that only listens
   * and was not used for longest, else the one at work that is so. Nobody's session at work goes for one of its own.
   */
  #makeRoomFor(newcomer: Holder): boolean {
    // Looked for only when the table is full: an order that each request keeps up would cost every one of them.
    const all = Array.from(this.#sessions.values());
    const restful = all.filter(({ isBusy }) => !isBusy);
    const debtor =
      this.#shares.debtorTo(newcomer, restful, { holder: ownerOf, isIdle: true, isSooner }) ??
      this.#shares.debtorTo(newcomer, all, { holder: ownerOf, isSooner });
    if (debtor) this.end(debtor);
    return debtor !== undefined;
  }
}

function isSooner(one: TableEntry, other: TableEntry): boolean {
  return one.isIdle === other.isIdle ? one.usedAt < other.usedAt : one.isIdle;
}

function ownerOf({ principalId }: TableEntry): Holder {
  return { principal: principalId };
}
