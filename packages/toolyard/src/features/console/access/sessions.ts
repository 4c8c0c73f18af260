import { createHash, randomBytes, timingSafeEqual } from "node:crypto";

/** Browser session with the credentials of its sign-in. Each request is authenticated with these credentials again. */
export interface BrowserSession {
  /** Value of `Authorization`. */
  readonly authorization: string;
}

export interface NewSession {
  /** Value of the cookie. */
  readonly cookie: string;
  /** Time for which a sign-in link is valid. */
  readonly key: string;
}

interface KeptSession extends BrowserSession {
  readonly keyDigest: Buffer;
  usedAt: number;
}

export interface SessionLimits {
  readonly sessionMs: number;
  readonly maxSessions: number;
}

/** Time within which a sign-in link can be used. */
export const LINK_MS = 60_000;
const MAX_LINKS = 32;

/**
 * Browser sessions and sign-in links. They are only in memory, so a restart of the hub ends them. Secrets are stored as
 * digests.
 */
export class BrowserSessions {
  readonly #limits: SessionLimits;
  readonly #now: () => number;
  /** Sessions by the digest of the cookie, the least recently used first. */
  readonly #sessions = new Map<string, KeptSession>();
  /** Sign-in links by the digest of the code. */
  readonly #links = new Map<string, BrowserSession & { readonly until: number }>();

  constructor(limits: SessionLimits, now: () => number = Date.now) {
    this.#limits = limits;
    this.#now = now;
  }

  get size(): number {
    return this.#sessions.size;
  }

  open(authorization: string): NewSession {
    const [cookie, key] = [secret(), secret()];
    this.#sessions.set(name(cookie), { authorization, keyDigest: digest(key), usedAt: this.#now() });
    if (this.#sessions.size > this.#limits.maxSessions) this.#sessions.delete(this.#sessions.keys().next().value!);
    return { cookie, key };
  }

  /**
   * Returns the session with this cookie and key. Returns `undefined` if the session is over or one of the values is
   * wrong.
   */
  find(cookie: string, key: string): BrowserSession | undefined {
    const id = name(cookie);
    const session = this.#sessions.get(id);
    if (!session || !timingSafeEqual(session.keyDigest, digest(key))) return undefined;
    this.#sessions.delete(id);
    const now = this.#now();
    if (now - session.usedAt > this.#limits.sessionMs) return undefined;
    session.usedAt = now;
    this.#sessions.set(id, session);
    return session;
  }

  /** Returns true while the session with this cookie is open. Does not extend the session. */
  isOpen(cookie: string): boolean {
    const session = this.#sessions.get(name(cookie));
    return session !== undefined && this.#now() - session.usedAt <= this.#limits.sessionMs;
  }

  end(cookie: string): void {
    this.#sessions.delete(name(cookie));
  }

  /** Returns the code of a link that opens one session with these credentials. */
  createLink(authorization: string): string {
    const code = secret();
    this.#links.set(name(code), { authorization, until: this.#now() + LINK_MS });
    if (this.#links.size > MAX_LINKS) this.#links.delete(this.#links.keys().next().value!);
    return code;
  }

  /** Returns the credentials of a sign-in link. A code can be used once. */
  useLink(code: string): BrowserSession | undefined {
    const id = name(code);
    const link = this.#links.get(id);
    this.#links.delete(id);
    return link && this.#now() <= link.until ? link : undefined;
  }
}

function secret(): string {
  return randomBytes(32).toString("base64url");
}

function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}

function name(text: string): string {
  return digest(text).toString("base64");
}
