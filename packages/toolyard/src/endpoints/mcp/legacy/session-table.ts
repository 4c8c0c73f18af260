import type { Principal } from "../../../core/calls/call.ts";
import { processActivity } from "../../../core/process-activity.ts";
import { Shares, type Holder } from "../../../core/fairness/shares.ts";

/** Session as the table uses it. */
export interface TableEntry {
  readonly id: string;
  readonly principalId: string;
  /** Name of the profile through which the session was opened. @default none */
  readonly profile?: string | undefined;
  /** True while the session neither answers a request nor has an open stream. */
  readonly isIdle: boolean;
  /** True while the session answers a request. */
  readonly isBusy: boolean;
  /** Time of the last use. An open stream counts as use. */
  lastSeenAt: number;
  /** Time of the last request of the session. */
  usedAt: number;
  /** Publishes the id of the session to callers. Resolves when other hubs know it. */
  list(): void | Promise<void>;
  close(): void;
}

export interface SessionTableLimits {
  readonly idleMs: number;
  readonly maxSessions: number;
}

/** Sessions of one endpoint. */
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

  /**
   * Adds a session. Returns false if the table is full and no session may be ended for the new one. Returns a promise
   * if other hubs do not know the session yet.
   */
  add(session: Entry): boolean | Promise<boolean> {
    if (this.#sessions.size >= this.#limits.maxSessions && !this.#makeRoomFor(ownerOf(session))) return false;
    this.#sessions.set(session.id, session);
    processActivity.sessions += 1;
    this.#shares.add(ownerOf(session));
    const listed = session.list();
    return listed ? listed.then(() => true) : true;
  }

  /** Returns the caller's session with that id and marks it as used. Sessions of other principals count as unknown. */
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
    this.remove(session);
    session.close();
  }

  /** Removes a session without closing it. */
  remove(session: Entry): void {
    if (!this.#sessions.delete(session.id)) return;
    processActivity.sessions -= 1;
    this.#shares.remove(ownerOf(session));
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
   * Ends a session of a principal that exceeds its share, in this order: the session that was idle longest, the least
   * recently used one that only has an open stream, the least recently used one that is answering. A new session of the
   * same principal never ends a session that is answering.
   */
  #makeRoomFor(newcomer: Holder): boolean {
    // Sorted only when the table is full, because maintaining an order would cost time in every request.
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
