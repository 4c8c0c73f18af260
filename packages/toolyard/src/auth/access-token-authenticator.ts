import { createHash } from "node:crypto";
import type { AccessPlace } from "../core/access.ts";
import { grantedFacts, type Grant, type GrantRights, type Identity } from "../core/calls/identity.ts";
import type {
  AdmittedCaller,
  Authentication,
  Authenticator,
  Credentials,
  RefusedCaller,
} from "../core/ports/authenticator.ts";
import { formatChallenge, type ChallengeFacts } from "./challenge.ts";
import { resourceMetadataUrl } from "./resource-metadata.ts";
import { TokenCache, type VerifiedToken } from "./token-cache.ts";
import { ProviderUnavailable, TokenError } from "./token-error.ts";

/** Verifies access tokens of one kind. */
export interface TokenVerifier {
  /**
   * Resolves with the identity. Rejects with a `TokenError` if the token is not valid, and with `ProviderUnavailable`
   * if it cannot be verified at the moment.
   */
  verify(token: string): Promise<Identity>;
}

export interface AuthenticatorParts {
  /** Returns the caller of a static token, by the digest of its text. */
  readonly findStatic?: (digest: Buffer) => AdmittedCaller | undefined;
  readonly verifier: TokenVerifier;
  readonly grantRights: GrantRights;
  /** Scopes that every access token needs. */
  readonly scopes: readonly string[];
  readonly clockSkewMs: number;
  /** Maximum time after which a token must be verified again. */
  readonly maxCachedMs: number;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  readonly report: (problem: string) => void;
}

/** Time after which workers verify a token again, so that they apply changed roles and revocations. */
const WORKER_CACHE_MS = 5000;
/** Maximum number of concurrent verifications; further requests are answered 503. */
const MAX_VERIFYING = 256;

/** Authenticates `Authorization: Bearer`: static tokens first, then access tokens of OAuth. */
export class AccessTokenAuthenticator implements Authenticator {
  readonly #parts: AuthenticatorParts;
  readonly #cache: TokenCache;
  readonly #verifying = new Map<string, Promise<VerifiedToken>>();
  readonly #admitted = new WeakMap<Identity, { readonly grant: Grant; readonly admitted: AdmittedCaller }>();
  #place: AccessPlace | undefined;

  constructor(parts: AuthenticatorParts) {
    this.#parts = parts;
    this.#cache = new TokenCache(parts.now);
  }

  use(place: AccessPlace): void {
    this.#place = place;
  }

  authenticate(credentials: Credentials, mount = ""): Authentication | Promise<Authentication> {
    const authorization = credentials.header("authorization");
    if (authorization === undefined) return this.#refuse(mount, { message: "Missing Authorization header" });
    const token = /^bearer +(\S+) *$/i.exec(authorization)?.[1];
    if (token === undefined)
      return this.#refuse(mount, {
        message: "Invalid Authorization header format, expected 'Bearer TOKEN'",
        error: "invalid_request",
      });
    const digest = createHash("sha256").update(token).digest();
    const known = this.#parts.findStatic?.(digest);
    if (known) return known;
    const key = digest.toString("latin1");
    const verified = this.#cache.find(key);
    return verified ? this.#admit(verified, mount) : this.#verify(token, { key, mount });
  }

  challengeScopes(scopes: readonly string[], mount: string): string {
    const all = [...new Set([...this.#parts.scopes, ...scopes])];
    const description = "The access token lacks a scope";
    return this.#challenge({ error: "insufficient_scope", description, scopes: all }, mount);
  }

  #challenge(facts: ChallengeFacts, mount: string): string {
    return formatChallenge({ ...facts, ...(this.#place && { metadata: resourceMetadataUrl(this.#place, mount) }) });
  }

  async #verify(
    token: string,
    { key, mount }: { readonly key: string; readonly mount: string },
  ): Promise<Authentication> {
    if (this.#verifying.size >= MAX_VERIFYING && !this.#verifying.has(key)) return unavailable(1000);
    try {
      return this.#admit(await this.#verifyOnce(token, key), mount);
    } catch (error) {
      if (error instanceof TokenError) return this.#refuse(mount, { message: error.message, error: "invalid_token" });
      if (!(error instanceof ProviderUnavailable)) throw error;
      this.#parts.report(error.message);
      return unavailable(error.retryAfterMs);
    }
  }

  #verifyOnce(token: string, key: string): Promise<VerifiedToken> {
    const verifying = this.#verifying.get(key) ?? this.#verifyNow(token, key);
    this.#verifying.set(key, verifying);
    return verifying;
  }

  async #verifyNow(token: string, key: string): Promise<VerifiedToken> {
    try {
      const identity = await this.#parts.verifier.verify(token);
      const { now, clockSkewMs, maxCachedMs } = this.#parts;
      const { expiresAt = Infinity } = identity;
      const verified = { identity, untilMs: Math.min(expiresAt + clockSkewMs, now() + maxCachedMs) };
      this.#cache.add(key, verified);
      return verified;
    } finally {
      this.#verifying.delete(key);
    }
  }

  /**
   * Computes the rights of an identity for each request, because roles may have changed since the token was verified.
   */
  #admit({ identity, untilMs }: VerifiedToken, mount: string): Authentication {
    const { scopes, grantRights } = this.#parts;
    if (!scopes.every((scope) => identity.scopes.includes(scope)))
      return this.#refuse(mount, { message: "The access token lacks a scope", error: "insufficient_scope" });
    const grant = grantRights(identity);
    if (!grant)
      return { admitted: false, status: 403, message: "No role of this hub admits this caller", challenge: "" };
    const kept = this.#admitted.get(identity);
    if (kept?.grant === grant) return kept.admitted;
    const admitted = admittedWith(identity, grant, untilMs);
    this.#admitted.set(identity, { grant, admitted });
    return admitted;
  }

  #refuse(
    mount: string,
    { message, error }: { readonly message: string; readonly error?: NonNullable<ChallengeFacts["error"]> },
  ): RefusedCaller {
    const { scopes } = this.#parts;
    const challenge = this.#challenge({ ...(error && { error, description: message }), scopes }, mount);
    return { admitted: false, message, challenge, ...(error === "insufficient_scope" && { status: 403 }) };
  }
}

function admittedWith(identity: Identity, grant: Grant, untilMs: number): AdmittedCaller {
  return Object.freeze({
    admitted: true,
    principal: Object.freeze({
      id: identity.id,
      rights: grant.rights,
      ...grantedFacts(grant),
      identity,
    }),
    keepMs: WORKER_CACHE_MS,
    untilMs,
  });
}

function unavailable(retryAfterMs: number): RefusedCaller {
  return {
    admitted: false,
    status: 503,
    message: "The access token cannot be checked now, because the identity provider does not answer. Try again later.",
    challenge: "",
    retryAfterMs,
  };
}
