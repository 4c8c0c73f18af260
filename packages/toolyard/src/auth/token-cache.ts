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

  find(digest: string): VerifiedToken | undefined {
    const found = this.#tokens.get(digest);
    if (!found || found.untilMs > this.#now()) return found;
    this.#tokens.delete(digest);
    return undefined;
  }

  add(digest: string, token: VerifiedToken): void {
    if (this.#tokens.size >= MAX_TOKENS) this.#tokens.delete(this.#tokens.keys().next().value!);
    this.#tokens.set(digest, token);
  }
}
