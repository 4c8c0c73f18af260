import type { Principal } from "../../../core/call.ts";
import { Shares } from "../shares.ts";

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

  /** False when the table is full of sessions that are at work. */
  add(session: Entry): boolean {
    if (this.#sessions.size >= this.#limits.maxSessions && !this.#evictOne()) return false;
    this.#sessions.set(session.id, session);
    session.list();
    this.#shares.add(session.principalId);
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
    if (this.#sessions.delete(session.id)) this.#shares.remove(session.principalId);
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
   * The one idle for longest of the principal with the most sessions, so that nobody drives out the others; else the
   * oldest of its that only listens; else the same of anybody. Sessions at work are left alone.
   */
  #evictOne(): boolean {
    const { largest } = this.#shares;
    const victim = this.#findRestful((session) => session.principalId === largest) ?? this.#findRestful(() => true);
    if (victim) this.end(victim);
    return victim !== undefined;
  }

  #findRestful(isWanted: (session: Entry) => boolean): Entry | undefined {
    let idle: Entry | undefined;
    let listener: Entry | undefined;
    // Looked for only when the table is full: an order that each request keeps up would cost every one of them.
    for (const session of this.#sessions.values()) {
      if (!isWanted(session)) continue;
      if (session.isIdle) idle = longerUnused(idle, session);
      else if (!session.isBusy) listener = longerUnused(listener, session);
    }
    return idle ?? listener;
  }
}

function longerUnused<Entry extends TableEntry>(known: Entry | undefined, session: Entry): Entry {
  return known && known.usedAt <= session.usedAt ? known : session;
}
