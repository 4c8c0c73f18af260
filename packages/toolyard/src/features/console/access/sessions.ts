import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import { CodeFlowRefused, type CodeFlow, type IssuedTokens } from "../../../core/ports/code-flow.ts";

/** Browser session with the credentials of its sign-in. Each request is authenticated with these credentials again. */
export interface BrowserSession {
  /** Value of `Authorization`. */
  readonly authorization: string;
  /** Tokens of a sign-in at an authorization server. Absent for a session that was opened with a token. */
  readonly signedIn?: SignedIn;
}

/** Tokens of a session, with the authorization server that renews them. */
export interface SignedIn extends IssuedTokens {
  readonly flow: Pick<CodeFlow, "name" | "refresh" | "revoke">;
}

export interface NewSession {
  /** Value of the cookie. */
  readonly cookie: string;
  /**
   * Value that the page sends in a header. It is never in a cookie, so the browser does not send it to other ports of
   * this machine.
   */
  readonly key: string;
}

interface KeptSession extends BrowserSession {
  authorization: string;
  signedIn?: SignedIn;
  readonly keyDigest: Buffer;
  usedAt: number;
  /** Present while new tokens are requested. A refresh token can be used once, so all requests wait for one answer. */
  refreshing: Promise<void> | undefined;
}

export interface SessionLimits {
  readonly sessionMs: number;
  readonly maxSessions: number;
}

/** Browser sessions and sign-in links: of this hub, or of all hubs of a store. */
export interface Sessions {
  open(session: BrowserSession): NewSession | Promise<NewSession>;
  /**
   * Returns the session with this cookie and key. Returns `undefined` if the session is over or one of the values is
   * wrong.
   */
  find(cookie: string, key: string): BrowserSession | undefined | Promise<BrowserSession | undefined>;
  /**
   * Renews the access token of a session shortly before it expires. Ends the session if the authorization server
   * refuses. Rejects if the server does not answer and the token has expired.
   */
  renew(cookie: string): Promise<void>;
  /** Returns true while the session with this cookie is open. Does not extend the session. */
  isOpen(cookie: string): boolean | Promise<boolean>;
  /** Ends a session. The tokens of its sign-in are revoked. */
  end(cookie: string): void | Promise<void>;
  /** Returns the code of a link that opens one session with these credentials. */
  createLink(authorization: string): string | Promise<string>;
  /** Returns the credentials of a sign-in link. A code can be used once. */
  useLink(code: string): BrowserSession | undefined | Promise<BrowserSession | undefined>;
}

/** Time before its expiry at which an access token is renewed. */
const RENEW_BEFORE_MS = 30_000;

/** Returns true if the access token of a sign-in can be renewed, and has expired or expires soon. */
export function isRenewalDue(tokens: IssuedTokens, now = Date.now()): tokens is RenewableTokens {
  const { refreshToken, expiresAt = Infinity } = tokens;
  return refreshToken !== undefined && expiresAt - now <= RENEW_BEFORE_MS;
}

type RenewableTokens = IssuedTokens & { readonly refreshToken: string };

/** Time within which a sign-in link can be used. */
export const LINK_MS = 60_000;
/** Maximum number of sign-in links that wait for their browser. */
export const MAX_LINKS = 32;

/**
 * Browser sessions and sign-in links of one hub. They are only in memory, so a restart of the hub ends them. Secrets
 * are stored as digests.
 */
export class BrowserSessions implements Sessions {
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

  open({ authorization, signedIn }: BrowserSession): NewSession {
    const [cookie, key] = [createSecret(), createSecret()];
    this.#sessions.set(name(cookie), {
      authorization,
      ...(signedIn && { signedIn }),
      keyDigest: digest(key),
      usedAt: this.#now(),
      refreshing: undefined,
    });
    if (this.#sessions.size > this.#limits.maxSessions) this.#end(this.#sessions.keys().next().value!);
    return { cookie, key };
  }

  find(cookie: string, key: string): BrowserSession | undefined {
    const id = name(cookie);
    const session = this.#sessions.get(id);
    if (!session || !timingSafeEqual(session.keyDigest, digest(key))) return undefined;
    const now = this.#now();
    if (now - session.usedAt > this.#limits.sessionMs) {
      this.#end(id);
      return undefined;
    }
    this.#sessions.delete(id);
    session.usedAt = now;
    this.#sessions.set(id, session);
    return session;
  }

  async renew(cookie: string): Promise<void> {
    const session = this.#sessions.get(name(cookie));
    if (!session?.signedIn || !isRenewalDue(session.signedIn, this.#now())) return;
    const { refreshToken, expiresAt = Infinity } = session.signedIn;
    session.refreshing ??= this.#refresh(session, refreshToken).finally(() => (session.refreshing = undefined));
    try {
      await session.refreshing;
    } catch (error) {
      if (error instanceof CodeFlowRefused) this.#sessions.delete(name(cookie));
      // The token may have expired while the authorization server did not answer.
      else if (expiresAt <= this.#now()) throw error;
    }
  }

  async #refresh(session: KeptSession, refreshToken: string): Promise<void> {
    const { flow } = session.signedIn!;
    // A server that does not rotate refresh tokens sends no new one, so the previous one is kept.
    session.signedIn = { refreshToken, ...(await flow.refresh(refreshToken)), flow };
    session.authorization = `Bearer ${session.signedIn.accessToken}`;
  }

  isOpen(cookie: string): boolean {
    const session = this.#sessions.get(name(cookie));
    return session !== undefined && this.#now() - session.usedAt <= this.#limits.sessionMs;
  }

  end(cookie: string): void {
    this.#end(name(cookie));
  }

  #end(id: string): void {
    const session = this.#sessions.get(id);
    this.#sessions.delete(id);
    if (session?.signedIn) void revokeTokens(session);
  }

  createLink(authorization: string): string {
    const code = createSecret();
    this.#links.set(name(code), { authorization, until: this.#now() + LINK_MS });
    if (this.#links.size > MAX_LINKS) this.#links.delete(this.#links.keys().next().value!);
    return code;
  }

  useLink(code: string): BrowserSession | undefined {
    const id = name(code);
    const link = this.#links.get(id);
    this.#links.delete(id);
    return link && this.#now() <= link.until ? link : undefined;
  }
}

/** Revokes the tokens of a session that has ended. A renewal that is running issues new tokens, so it is awaited. */
async function revokeTokens(session: KeptSession): Promise<void> {
  if (session.refreshing) await session.refreshing.catch(() => {});
  const { refreshToken, accessToken, flow } = session.signedIn!;
  await flow.revoke(refreshToken ?? accessToken);
}

/** Returns a text with 256 random bits. */
export function createSecret(): string {
  return randomBytes(32).toString("base64url");
}

function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}

function name(text: string): string {
  return digest(text).toString("base64");
}
