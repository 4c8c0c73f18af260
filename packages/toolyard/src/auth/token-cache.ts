import type { Identity } from "../core/calls/identity.ts";

/** An access token that was verified. */
export interface VerifiedToken {
  readonly identity: Identity;
  /** Time after which the token must be verified again, in milliseconds since 1970. */
  readonly untilMs: number;
}

/** Maximum number of cached tokens. The oldest is removed, and verified again at its next use. */
const MAX_TOKENS = 10_000;

/** Cache of verified access tokens. The key is the digest of the token; the token itself is not stored. */
export class TokenCache {
  readonly #tokens = new Map<string, VerifiedToken>();
  readonly #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** Returns a token that need not be verified again. */
  find(digest: string): VerifiedToken | undefined {
    const found = this.#tokens.get(digest);
    return found && found.untilMs > this.#now() ? found : undefined;
  }

  /**
   * Returns a token that was verified and has not expired, even if it must be verified again: for a time in which that
   * is not possible.
   */
  findEarlier(digest: string): VerifiedToken | undefined {
    const found = this.#tokens.get(digest);
    return found && (found.identity.expiresAt ?? 0) > this.#now() ? found : undefined;
  }

  remove(digest: string): void {
    this.#tokens.delete(digest);
  }

  /** Requires that every token is verified again before its next use. */
  expireAll(): void {
    for (const [digest, token] of this.#tokens) this.#tokens.set(digest, { ...token, untilMs: 0 });
  }

  add(digest: string, token: VerifiedToken): void {
    this.#tokens.delete(digest);
    if (this.#tokens.size >= MAX_TOKENS) this.#tokens.delete(this.#tokens.keys().next().value!);
    this.#tokens.set(digest, token);
  }
}
