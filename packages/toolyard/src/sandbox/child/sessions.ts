import { Shares, type Holder } from "../../core/fairness/shares.ts";
import type { ChildSettings } from "../child-messages.ts";
import type { RunWorker } from "./run-worker.ts";

interface Session {
  readonly key: string;
  /** The user of the most recent run. */
  owner: Holder;
  readonly worker: RunWorker;
  isBusy: boolean;
  timer: NodeJS.Timeout | undefined;
}

/** The requested session and its user. */
export interface SessionWish {
  readonly key: string;
  readonly owner: Holder;
}

/** A session that a run holds. */
export interface TakenSession {
  readonly session: Session;
  readonly worker: RunWorker;
  readonly isNew: boolean;
}

/**
 * Workers that keep their variables between runs. Their order is the order of use: the first idle one is the least
 * recently used.
 */
export class InterpreterSessions {
  readonly #most: number;
  readonly #idleMs: number;
  readonly #onCount: (count: number) => void;
  readonly #sessions = new Map<string, Session>();
  readonly #shares = new Shares();

  constructor(
    { sessions, sessionIdleMs }: Pick<ChildSettings, "sessions" | "sessionIdleMs">,
    onCount: (count: number) => void,
  ) {
    this.#most = sessions;
    this.#idleMs = sessionIdleMs;
    this.#onCount = onCount;
  }

  /**
   * Returns the session of this key, and starts it if there is none. Returns the reason as text if no session can be
   * started now.
   */
  take({ key, owner }: SessionWish, begin: () => RunWorker): TakenSession | string {
    const known = this.#sessions.get(key);
    if (known?.isBusy)
      return "This session is already running code. Wait until it has finished: a session runs one program at a time.";
    if (known) return this.#hold(known, owner, false);
    if (this.#most === 0) return "Sessions are switched off here (`sandbox.sessions` is 0). Run the code without one.";
    if (this.#sessions.size >= this.#most && !this.#makeRoomFor(owner)) {
      const areAllBusy = Array.from(this.#sessions.values()).every(({ isBusy }) => isBusy);
      const why = areAllBusy ? "which is the limit" : "or reserved for other callers";
      return `All ${this.#most} sessions are in use, ${why}. Try again in a moment, or run without a session.`;
    }
    const session: Session = { key, owner, worker: begin(), isBusy: false, timer: undefined };
    void session.worker.ended.then(() => this.#remove(session));
    this.#sessions.set(key, session);
    this.#shares.add(owner);
    this.#onCount(this.#sessions.size);
    return this.#hold(session, owner, true);
  }

  /** Called when a run is over. `keep`: the worker can run another job. */
  giveBack({ session }: TakenSession, keep: boolean): void {
    session.isBusy = false;
    if (!keep) return this.#end(session);
    session.timer = setTimeout(() => this.#end(session), this.#idleMs);
  }

  #hold(session: Session, owner: Holder, isNew: boolean): TakenSession {
    clearTimeout(session.timer);
    this.#shares.remove(session.owner);
    this.#shares.add(owner);
    session.owner = owner;
    session.isBusy = true;
    this.#sessions.delete(session.key);
    this.#sessions.set(session.key, session);
    return { session, worker: session.worker, isNew };
  }

  #makeRoomFor(newcomer: Holder): boolean {
    const idle = Array.from(this.#sessions.values()).filter(({ isBusy }) => !isBusy);
    const debtor = this.#shares.debtorTo(newcomer, idle, { holder: ({ owner }) => owner, isIdle: true });
    if (debtor) this.#end(debtor);
    return debtor !== undefined;
  }

  #end(session: Session): void {
    this.#remove(session);
    session.worker.end();
  }

  #remove(session: Session): void {
    clearTimeout(session.timer);
    if (this.#sessions.get(session.key) !== session) return;
    this.#sessions.delete(session.key);
    this.#shares.remove(session.owner);
    this.#onCount(this.#sessions.size);
  }
}
