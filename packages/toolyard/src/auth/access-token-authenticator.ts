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
import { formatChallenges, type BindingRules, type ChallengeFacts, type Scheme } from "./challenge.ts";
import { ProofError } from "./dpop/proof-error.ts";
import type { ProvenRequest } from "./dpop/proof-verifier.ts";
import { StoreLostError } from "../state/ports/store.ts";
import { resourceMetadataUrl } from "./resource-metadata.ts";
import { TokenCache, type VerifiedToken } from "./token-cache.ts";
import { ProviderUnavailable, TokenError, TooManyChecked } from "./token-error.ts";

/** Verifies access tokens of one kind. */
export interface TokenVerifier {
  /**
   * Resolves with the identity. Rejects with a `TokenError` if the token is not valid, and with `ProviderUnavailable`
   * if it cannot be verified at the moment.
   */
  verify(token: string): Promise<Identity>;
}

/** Verifies proofs of keys, to which access tokens may be bound. */
export interface ProofChecker {
  /** Rejects with a `ProofError` if the proof is not valid for the request, and with `TooManyChecked`. */
  verify(proof: string, request: ProvenRequest): Promise<unknown>;
}

export interface AuthenticatorParts {
  /** Returns the caller of a static token, by the digest of its text. */
  readonly findStatic?: (digest: Buffer) => AdmittedCaller | undefined;
  readonly verifier: TokenVerifier;
  readonly grantRights: GrantRights;
  /** Scopes that every access token needs. */
  readonly scopes: readonly string[];
  readonly proofs: ProofChecker;
  readonly binding: BindingRules;
  /** Path prefix of requests to the hub, which the hub's canonical address contains too. */
  readonly basePath: string;
  readonly clockSkewMs: number;
  /** Maximum time after which a token must be verified again. */
  readonly maxCachedMs: number;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  readonly report: (problem: string) => void;
}

/**
 * Maximum time for which a worker reuses the result for a bearer token, so that changed roles and revocations take
 * effect.
 */
const WORKER_CACHE_MS = 5000;
/** Maximum number of concurrent verifications; further requests are answered 503. */
const MAX_VERIFYING = 256;
const WRONG_FORMAT = "Invalid Authorization header format, expected 'Bearer TOKEN' or 'DPoP TOKEN'";
const SCOPE_MISSING = "The access token lacks a scope";
const UNBOUND_REFUSED = "This hub requires an access token that is bound to a key, with the scheme `DPoP`";
const NO_ANSWER =
  "The access token cannot be checked now, because the identity provider does not answer. Try again later.";

const STORE_LOST =
  "The access token cannot be checked now, because the shared store cannot be reached. Try again later.";
/** Time after which a token is looked up again in a store that could not be reached. */
const STORE_RETRY_MS = 1000;

/** Scheme and cache key of the access token in a request. */
interface TokenUse {
  /** Key in the cache. It differs between the schemes, so that no bound token is found as a bearer token. */
  readonly key: string;
  readonly scheme: Scheme;
}

interface TokenRefusal extends Pick<ChallengeFacts, "error"> {
  readonly message: string;
  readonly scheme?: Scheme;
}

/**
 * Authenticates `Authorization: Bearer`: static tokens first, then access tokens of OAuth. Authenticates
 * `Authorization: DPoP` by an access token and a proof of the key to which the token is bound (RFC 9449 section 7).
 */
export class AccessTokenAuthenticator implements Authenticator {
  readonly #parts: AuthenticatorParts;
  readonly #cache: TokenCache;
  readonly #verifying = new Map<string, Promise<VerifiedToken>>();
  /** Number of calls of `accessEnded`. */
  #changes = 0;
  readonly #admitted = new WeakMap<Identity, { readonly grant: Grant; readonly admitted: AdmittedCaller }>();
  #place: AccessPlace | undefined;

  constructor(parts: AuthenticatorParts) {
    this.#parts = parts;
    this.#cache = new TokenCache(parts.now);
  }

  /**
   * Ends the use of cached verifications. `tokens`: digests (SHA-256, hexadecimal) of tokens that are not valid any
   * more; without any, every token is verified again before its next use.
   */
  accessEnded(tokens: readonly string[]): void {
    this.#changes += 1;
    if (tokens.length === 0) this.#cache.expireAll();
    for (const token of tokens) {
      const key = Buffer.from(token, "hex").toString("latin1");
      for (const use of [key, boundKeyOf(key)]) this.#cache.remove(use);
    }
  }

  use(place: AccessPlace): void {
    this.#place = place;
  }

  authenticate(credentials: Credentials, mount = ""): Authentication | Promise<Authentication> {
    const authorization = credentials.header("authorization");
    if (authorization === undefined) return this.#refuse(mount, { message: "Missing Authorization header" });
    const token = /^bearer +(\S+) *$/i.exec(authorization)?.[1];
    if (token === undefined) return this.#authenticateBound(credentials, authorization, mount);
    const digest = createHash("sha256").update(token).digest();
    const known = this.#parts.findStatic?.(digest);
    if (known) return known;
    if (this.#parts.binding.isRequired && credentials.isHeldByHub !== true)
      return this.#refuse(mount, { message: UNBOUND_REFUSED, error: "invalid_token" });
    const key = digest.toString("latin1");
    const verified = this.#cache.find(key);
    if (verified) return this.#admit(verified, mount);
    return this.#settle({ mount, scheme: "Bearer" }, async () =>
      this.#admit(await this.#verifyOnce(token, { key, scheme: "Bearer" }), mount),
    );
  }

  #authenticateBound(
    credentials: Credentials,
    authorization: string,
    mount: string,
  ): Authentication | Promise<Authentication> {
    const token = /^dpop +(\S+) *$/i.exec(authorization)?.[1];
    if (token === undefined) return this.#refuse(mount, { message: WRONG_FORMAT, error: "invalid_request" });
    const proof = credentials.header("dpop");
    const { method, target } = credentials;
    const scheme = "DPoP";
    if (proof === undefined || method === undefined || target === undefined)
      return this.#refuse(mount, { message: "The `DPoP` header is missing", error: "invalid_dpop_proof", scheme });
    const digest = createHash("sha256").update(token).digest();
    const key = boundKeyOf(digest.toString("latin1"));
    return this.#settle({ mount, scheme }, async () => {
      const verified = this.#cache.find(key) ?? (await this.#verifyOnce(token, { key, scheme }));
      const { boundKey = "" } = verified.identity;
      const url = this.#urlOf(target);
      await this.#parts.proofs.verify(proof, { method, url, tokenDigest: digest.toString("base64url"), boundKey });
      return this.#admit(verified, mount, scheme);
    });
  }

  /** Returns the canonical address of a request, which does not depend on its `Host` header. */
  #urlOf(target: string): string {
    const path = /^(?:https?:\/\/[^/?#]*)?([^?#]*)/i.exec(target)?.[1] ?? "";
    const { basePath } = this.#parts;
    const inner = path === basePath || path.startsWith(`${basePath}/`) ? path.slice(basePath.length) : path;
    return `${this.#place?.baseUrl ?? ""}${inner}`;
  }

  challengeScopes(scopes: readonly string[], mount: string): string {
    const all = [...new Set([...this.#parts.scopes, ...scopes])];
    return this.#challenge({ error: "insufficient_scope", description: SCOPE_MISSING, scopes: all }, mount);
  }

  #challenge(facts: ChallengeFacts, mount: string, scheme?: Scheme): string {
    const metadata = this.#place && resourceMetadataUrl(this.#place, mount);
    return formatChallenges({ ...facts, ...(metadata !== undefined && { metadata }) }, this.#parts.binding, scheme);
  }

  /** Resolves with the result of `check`, or with a refusal that describes its error. */
  async #settle(
    { mount, scheme }: { readonly mount: string; readonly scheme: Scheme },
    check: () => Promise<Authentication>,
  ): Promise<Authentication> {
    try {
      return await check();
    } catch (error) {
      if (error instanceof TokenError)
        return this.#refuse(mount, { message: error.message, error: "invalid_token", scheme });
      if (error instanceof ProofError) return this.#refuseProof(error, mount);
      if (error instanceof TooManyChecked) return unavailable(1000, error.message);
      if (error instanceof StoreLostError) return unavailable(STORE_RETRY_MS, STORE_LOST);
      if (!(error instanceof ProviderUnavailable)) throw error;
      this.#parts.report(error.message);
      return unavailable(error.retryAfterMs);
    }
  }

  #refuseProof({ code, message, nonce }: ProofError, mount: string): RefusedCaller {
    const refused = this.#refuse(mount, { message, error: code, scheme: "DPoP" });
    return nonce === undefined ? refused : { ...refused, nonce };
  }

  #verifyOnce(token: string, use: TokenUse): Promise<VerifiedToken> {
    const running = this.#verifying.get(use.key);
    if (!running && this.#verifying.size >= MAX_VERIFYING)
      throw new TooManyChecked("Too many access tokens are being checked. Try again later.");
    const verifying = running ?? this.#verifyNow(token, use);
    this.#verifying.set(use.key, verifying);
    return verifying;
  }

  async #verifyNow(token: string, { key, scheme }: TokenUse): Promise<VerifiedToken> {
    const { verifier, now, clockSkewMs, maxCachedMs } = this.#parts;
    const changes = this.#changes;
    try {
      const identity = await verifier.verify(token);
      assertScheme(identity, scheme);
      const { expiresAt = Infinity } = identity;
      const verified = { identity, untilMs: Math.min(expiresAt + clockSkewMs, now() + maxCachedMs) };
      // The token may have been revoked while it was looked up.
      if (changes === this.#changes) this.#cache.add(key, verified);
      return verified;
    } catch (error) {
      if (error instanceof TokenError) this.#cache.remove(key);
      return this.#earlier(key, error);
    } finally {
      this.#verifying.delete(key);
    }
  }

  /** Returns the earlier verification of a token while the store cannot be reached. Throws every other error. */
  #earlier(key: string, error: unknown): VerifiedToken {
    const earlier = error instanceof StoreLostError ? this.#cache.findEarlier(key) : undefined;
    if (!earlier) throw error;
    const kept = { identity: earlier.identity, untilMs: this.#parts.now() + STORE_RETRY_MS };
    this.#cache.add(key, kept);
    return kept;
  }

  /**
   * Computes the rights of an identity for each request, because roles may have changed since the token was verified.
   */
  #admit({ identity, untilMs }: VerifiedToken, mount: string, scheme: Scheme = "Bearer"): Authentication {
    const { scopes, grantRights } = this.#parts;
    if (!scopes.every((scope) => identity.scopes.includes(scope)))
      return this.#refuse(mount, { message: SCOPE_MISSING, error: "insufficient_scope", scheme });
    const grant = grantRights(identity);
    if (!grant)
      return { admitted: false, status: 403, message: "No role of this hub admits this caller", challenge: "" };
    const kept = this.#admitted.get(identity);
    if (kept?.grant === grant) return kept.admitted;
    const admitted = admittedWith(identity, grant, untilMs);
    this.#admitted.set(identity, { grant, admitted });
    return admitted;
  }

  #refuse(mount: string, { message, error, scheme }: TokenRefusal): RefusedCaller {
    const { scopes } = this.#parts;
    const challenge = this.#challenge({ ...(error && { error, description: message }), scopes }, mount, scheme);
    return { admitted: false, message, challenge, ...(error === "insufficient_scope" && { status: 403 }) };
  }
}

/** Throws a `TokenError` if the token must be sent with the other scheme. */
function assertScheme({ boundKey }: Identity, scheme: Scheme): void {
  if (scheme === "Bearer" && boundKey !== undefined)
    throw new TokenError("The access token is bound to a key: send it with the scheme `DPoP` and a proof");
  if (scheme === "DPoP" && boundKey === undefined)
    throw new TokenError("The access token is not bound to a key: send it with the scheme `Bearer`");
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
    // Each request has its own proof, so a worker must not reuse the result for another request.
    keepMs: identity.boundKey === undefined ? WORKER_CACHE_MS : 0,
    untilMs,
  });
}

/** Returns the key of a bound token in the cache. */
function boundKeyOf(key: string): string {
  return `dpop ${key}`;
}

function unavailable(retryAfterMs: number, message: string = NO_ANSWER): RefusedCaller {
  return {
    admitted: false,
    status: 503,
    message,
    challenge: "",
    retryAfterMs,
  };
}
