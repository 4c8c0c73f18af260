import { createHash } from "node:crypto";
import {
  calculateJwkThumbprint,
  EmbeddedJWK,
  jwtVerify,
  type CryptoKey,
  type JWTHeaderParameters,
  type JWTVerifyGetKey,
  type JWTVerifyResult,
} from "jose";
import type { JsonObject } from "../../core/json/json.ts";
import type { OneTimeIds } from "../../state/ports/one-time-ids.ts";
import { TooManyChecked } from "../token-error.ts";
import { PROOF_ALGORITHMS } from "./algorithms.ts";
import { ProofError } from "./proof-error.ts";
import { ProofHistory } from "./proof-history.ts";
import { ProofNonces } from "./proof-nonces.ts";
import { PROOF_WINDOW_MS } from "./proof-window.ts";

/** HTTP request that a proof must describe. */
export interface ProvenRequest {
  readonly method: string;
  /** Canonical address of the request. Its query is ignored. */
  readonly url: string;
  /** SHA-256 digest of the access token, in base64url. Absent at the token endpoint. */
  readonly tokenDigest?: string;
  /** Thumbprint of the key to which the access token is bound. Absent if the token is still to be issued. */
  readonly boundKey?: string;
}

export interface ProofRules {
  /** Returns the secret from which nonces are derived. Absent if proofs need no nonce. */
  readonly nonceSecret?: () => Uint8Array;
  /** Ids of proofs that the hubs of the shared store have accepted. Absent if there are no other hubs. */
  readonly shared?: OneTimeIds;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

const MAX_PROOF_CHARS = 8192;
const MAX_JTI_CHARS = 512;
/** Maximum number of imported keys; the oldest is removed. Importing a key costs as much as verifying a signature. */
const MAX_KEYS = 1000;

interface ImportedKey {
  readonly key: CryptoKey;
  readonly thumbprint: string;
}

/** Verifies proofs of the possession of a key (DPoP, RFC 9449 section 4.3). Each proof is accepted once. */
export class ProofVerifier {
  readonly #now: () => number;
  readonly #history: ProofHistory;
  readonly #shared: OneTimeIds | undefined;
  readonly #nonces: ProofNonces | undefined;
  /** Keys to which valid access tokens are bound, by algorithm and JWK. */
  readonly #keys = new Map<string, ImportedKey>();

  constructor({ now, nonceSecret, shared }: ProofRules) {
    this.#now = now;
    this.#shared = shared;
    this.#history = new ProofHistory({ windowMs: PROOF_WINDOW_MS }, now);
    this.#nonces = nonceSecret && new ProofNonces(nonceSecret, now);
  }

  /**
   * Resolves with the thumbprint of the key (RFC 7638). Rejects with a `ProofError` if the proof is not valid for the
   * request, and with `TooManyChecked` if it cannot be recorded now.
   */
  async verify(proof: string, request: ProvenRequest): Promise<string> {
    const { payload, protectedHeader, key } = await this.#verifySignature(proof);
    const claims = payload as JsonObject;
    assertRequest(claims, request);
    const issuedMs = this.#issueTimeOf(claims);
    const jti = jtiOf(claims);
    this.#assertNonce(claims);
    const thumbprint = await this.#thumbprintOf(protectedHeader, key);
    if (request.boundKey !== undefined && request.boundKey !== thumbprint)
      throw new ProofError("The access token is bound to another key than the one of the proof", "invalid_token");
    this.#use(thumbprint, jti, issuedMs);
    if (this.#shared) await this.#useOnAllHubs(this.#shared, { id: `${thumbprint} ${jti}`, issuedMs });
    // Only keys of valid access tokens are cached, so that other callers cannot displace them.
    if (request.boundKey !== undefined) this.#remember(protectedHeader, { key, thumbprint });
    return thumbprint;
  }

  readonly #findKey: JWTVerifyGetKey = (header, token) =>
    this.#keys.get(nameOf(header))?.key ?? EmbeddedJWK(header, token);

  async #thumbprintOf(header: JWTHeaderParameters, key: CryptoKey): Promise<string> {
    const known = this.#keys.get(nameOf(header));
    return known?.key === key ? known.thumbprint : calculateJwkThumbprint(header.jwk!);
  }

  #remember(header: JWTHeaderParameters, imported: ImportedKey): void {
    const name = nameOf(header);
    if (this.#keys.has(name)) return;
    if (this.#keys.size >= MAX_KEYS) this.#keys.delete(this.#keys.keys().next().value!);
    this.#keys.set(name, imported);
  }

  async #verifySignature(proof: string): Promise<JWTVerifyResult & { readonly key: CryptoKey }> {
    if (proof.length > MAX_PROOF_CHARS) throw new ProofError("The proof is too long");
    // A comma separates the values of a repeated header.
    if (proof.includes(",")) throw new ProofError("The request has more than one `DPoP` header");
    try {
      const verified = await jwtVerify(proof, this.#findKey, {
        algorithms: [...PROOF_ALGORITHMS],
        typ: "dpop+jwt",
        currentDate: new Date(this.#now()),
      });
      return { ...verified, key: verified.key as CryptoKey };
    } catch {
      // The message is replaced, because messages of the library `jose` may repeat parts of the proof.
      throw new ProofError("The signature, the type, the algorithm or the key of the proof is not accepted");
    }
  }

  #issueTimeOf({ iat }: JsonObject): number {
    if (typeof iat !== "number" || !Number.isFinite(iat)) throw new ProofError("The proof has no usable `iat` claim");
    const issuedMs = iat * 1000;
    if (Math.abs(this.#now() - issuedMs) > PROOF_WINDOW_MS)
      throw new ProofError("The proof was not issued within the last 5 minutes. Check the clock of the client");
    return issuedMs;
  }

  #assertNonce({ nonce }: JsonObject): void {
    const nonces = this.#nonces;
    if (nonces && !nonces.isValid(nonce))
      throw new ProofError("The proof needs the nonce of the `DPoP-Nonce` header", "use_dpop_nonce", nonces.current());
  }

  async #useOnAllHubs(
    shared: OneTimeIds,
    { id, issuedMs }: { readonly id: string; readonly issuedMs: number },
  ): Promise<void> {
    const digest = createHash("sha256").update(id).digest("base64url");
    // The id is kept for a second window, because a hub with a slow clock accepts the proof for longer.
    const ttlMs = issuedMs + 2 * PROOF_WINDOW_MS - this.#now();
    const isFirst = await shared.claim(digest, ttlMs).catch(() => {
      throw new TooManyChecked("The shared store cannot be reached, so the proof cannot be checked. Try again later.");
    });
    if (!isFirst) throw new ProofError("The proof was used before");
  }

  #use(key: string, jti: string, issuedMs: number): void {
    switch (this.#history.claim(key, jti, issuedMs)) {
      case "used":
        throw new ProofError("The proof was used before");
      case "forgotten":
        throw new ProofError("The proof is too old, because its key has signed many proofs since");
      case "full":
        throw new TooManyChecked("Too many keys of callers are in use. Try again later.");
      default:
    }
  }
}

/** Throws a `ProofError` if the proof names another request, or another access token. */
function assertRequest({ htm, htu, ath }: JsonObject, { method, url, tokenDigest }: ProvenRequest): void {
  if (htm !== method) throw new ProofError("The proof is for another method: its `htm` must be the request's method");
  const target = addressOf(htu);
  if (target === undefined || target !== addressOf(url))
    throw new ProofError(`The proof is for another address: its \`htu\` must be ${url}`);
  if (tokenDigest !== undefined && ath !== tokenDigest)
    throw new ProofError("The proof is for another access token: its `ath` must be the digest of the access token");
}

/**
 * Returns an address without query and fragment, normalised by RFC 3986 sections 6.2.2 and 6.2.3. Returns `undefined`
 * if the value is not an address.
 */
function addressOf(value: unknown): string | undefined {
  if (typeof value !== "string" || !URL.canParse(value)) return undefined;
  const url = new URL(value);
  if (url.username !== "" || url.password !== "") return undefined;
  return url.origin + url.pathname.replace(/%[0-9a-f]{2}/gi, normalEscape);
}

function normalEscape(escape: string): string {
  const char = String.fromCharCode(Number.parseInt(escape.slice(1), 16));
  return /[A-Za-z0-9._~-]/.test(char) ? char : escape.toUpperCase();
}

function nameOf({ alg, jwk }: Partial<JWTHeaderParameters>): string {
  return JSON.stringify([alg, jwk]);
}

function jtiOf({ jti }: JsonObject): string {
  if (typeof jti === "string" && jti !== "" && jti.length <= MAX_JTI_CHARS) return jti;
  throw new ProofError("The proof has no usable `jti` claim");
}
