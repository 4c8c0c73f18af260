import type { Principal } from "../../../core/calls/call.ts";
import { Shares, type Holder } from "../../../core/fairness/shares.ts";

/** A session as the table uses it. */
export interface TableEntry {
  readonly id: string;
  readonly principalId: string;
  /** Name of the profile that it was opened by. @default none */
  readonly profile?: string | undefined;
  /** True while it neither answers a request nor has an open stream. */
  readonly isIdle: boolean;
  /** True while it answers a request. */
  readonly isBusy: boolean;
  /** Time at which it was last seen in use; an open stream counts as use. */
  lastSeenAt: number;
  /** Time of the last request that named it. */
  usedAt: number;
  /** Publishes its id to callers. */
  list(): void;
  close(): void;
}

export interface SessionTableLimits {
  readonly idleMs: number;
  readonly maxSessions: number;
}

/** The sessions of one endpoint. */
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

  /** Returns false if the table is full of sessions that are answering or that their principals are entitled to. */
  add(session: Entry): boolean {
    if (this.#sessions.size >= this.#limits.maxSessions && !this.#makeRoomFor(ownerOf(session))) return false;
    this.#sessions.set(session.id, session);
    session.list();
    this.#shares.add(ownerOf(session));
    return true;
  }

  /**
   * Returns the caller's own session with that id and marks it as used. Sessions of other principals are treated as
   * unknown.
   */
  use(id: string, principal: Principal): Entry | undefined {
    const session = this.#sessions.get(id);
    if (!session || session.principalId !== principal.id || session.profile !== principal.profile?.name)
      return undefined;
    session.usedAt = session.lastSeenAt = performance.now();
    return session;
  }

  /** Returns the session with that id, of any principal. */
  find(id: string): Entry | undefined {
    return this.#sessions.get(id);
  }

  end(session: Entry): void {
    if (this.#sessions.delete(session.id)) this.#shares.remove(ownerOf(session));
    session.close();
  }

  /** Ends sessions that were idle too long. */
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
   * Ends a session of the principal that exceeds its share: the one idle longest, else the least recently used one that
   * only listens, else the least recently used one that is answering. A session that is answering never yields to
   * another of the same principal.
   */
  #makeRoomFor(newcomer: Holder): boolean {
    // Computed only when the table is full: keeping an order at each request would cost every request.
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
