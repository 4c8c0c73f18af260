import type { Principal } from "../../../core/call.ts";
import { Shares } from "../shares.ts";
import type { HttpSession } from "./http-session.ts";

export interface SessionTableLimits {
  readonly idleMs: number;
  readonly maxSessions: number;
}

/** The sessions of one door. */
export class SessionTable {
  readonly #limits: SessionTableLimits;
  readonly #sessions = new Map<string, HttpSession>();
  readonly #shares = new Shares();

  constructor(limits: SessionTableLimits) {
    this.#limits = limits;
  }

  get size(): number {
    return this.#sessions.size;
  }

  /** False when the table is full of sessions that are at work. */
  add(session: HttpSession): boolean {
    if (this.#sessions.size >= this.#limits.maxSessions && !this.#evictOne()) return false;
    this.#sessions.set(session.id, session);
    session.isListed = true;
    this.#shares.add(session.session.principal.id);
    return true;
  }

  /** The caller's own session of that id, which counts as used now. Somebody else's does not exist. */
  use(id: string, principal: Principal): HttpSession | undefined {
    const session = this.#sessions.get(id);
    if (!session || session.session.principal.id !== principal.id) return undefined;
    session.usedAt = session.lastSeenAt = performance.now();
    return session;
  }

  end(session: HttpSession): void {
    if (this.#sessions.delete(session.id)) this.#shares.remove(session.session.principal.id);
    session.close();
  }

  /** Ends what has been idle for too long. */
  sweep(now: number): void {
    for (const session of Array.from(this.#sessions.values())) {
      if (!session.isIdle) session.lastSeenAt = now;
      else if (now - session.lastSeenAt > this.#limits.idleMs) this.end(session);
    }
  }

  *[Symbol.iterator](): IterableIterator<HttpSession> {
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
    const victim =
      this.#findRestful((session) => session.session.principal.id === largest) ?? this.#findRestful(() => true);
    if (victim) this.end(victim);
    return victim !== undefined;
  }

  #findRestful(isWanted: (session: HttpSession) => boolean): HttpSession | undefined {
    let idle: HttpSession | undefined;
    let listener: HttpSession | undefined;
    // Looked for only when the table is full: an order that each request keeps up would cost every one of them.
    for (const session of this.#sessions.values()) {
      if (!isWanted(session)) continue;
      if (session.isIdle) idle = longerUnused(idle, session);
      else if (!session.session.busy) listener = longerUnused(listener, session);
    }
    return idle ?? listener;
  }
}

function longerUnused(known: HttpSession | undefined, session: HttpSession): HttpSession {
  return known && known.usedAt <= session.usedAt ? known : session;
}
