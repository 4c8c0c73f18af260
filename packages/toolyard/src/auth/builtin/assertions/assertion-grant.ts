import { messageOf, OptionError } from "../../../core/errors.ts";
import type { JsonObject } from "../../../core/json/json.ts";
import { boundedClaims, boundKeyOf, claimAt, groupsOf } from "../../claims.ts";
import { ProofError } from "../../dpop/proof-error.ts";
import { ProviderUnavailable, TokenError, TooManyChecked } from "../../token-error.ts";
import { admitAccount } from "../federation/account.ts";
import { emailOf, ProviderSignInError, subjectOf } from "../federation/identity-provider.ts";
import type { ProviderAccount } from "../federation/provider-account.ts";
import type { RecordStore } from "../record-store.ts";
import type { User, Users } from "../users.ts";
import type { AssertionVerifier, VerifiedAssertion } from "./assertion-verifier.ts";

/** Grant of RFC 7523 section 2.1. The hub accepts identity assertions (ID-JAG) only. */
export const ASSERTION_GRANT = "urn:ietf:params:oauth:grant-type:jwt-bearer";
export const ASSERTION_PROFILE = "urn:ietf:params:oauth:grant-profile:id-jag";
export const ASSERTION_PARAMETERS = ["assertion", "scope", "resource"];

export interface AssertionGrantParts {
  readonly verifier: AssertionVerifier;
  readonly proofs: ProofCheck;
  readonly users: Users;
  /** Ids of used assertions, until the assertions expire. */
  readonly used: RecordStore;
  /** Scopes that the hub issues. The first one is issued if the assertion names none. */
  readonly scopes: readonly string[];
}

/** Check of the proof of a key in a token request (RFC 9449 section 5). */
export interface ProofCheck {
  /** True if access tokens must be bound to a key. */
  readonly isRequired: boolean;
  /** Resolves with the thumbprint of the proof's key. Rejects with a `ProofError`. */
  readonly thumbprintOf: (proof: string) => Promise<string>;
}

/** Parameters of a token request with an assertion. */
export interface AssertionRequest {
  readonly clientId: string;
  /** Value of the `DPoP` header. Empty if there is none. */
  readonly proof: string;
  readonly params: Readonly<Record<string, unknown>>;
}

/** User, scope and other data for the access token that is issued for an assertion. */
export interface AssertedAccess {
  readonly accountId: string;
  readonly scope: string;
  readonly resource: string;
  /** Claims of the assertion, for roles. */
  readonly claims: JsonObject;
  /** Thumbprint of the key to which the access token is bound. Absent for a bearer token. */
  readonly boundKey?: string;
}

/** Error of the token endpoint. */
export class AssertionError extends Error {
  override readonly name = "AssertionError";
  readonly code: string;
  /** Nonce that the next proof must contain. */
  readonly nonce: string | undefined;

  constructor(code: string, message: string, nonce?: string) {
    super(message);
    this.code = code;
    this.nonce = nonce;
  }
}

/**
 * Exchanges an identity assertion for access. Each assertion works once. Rejects with an `AssertionError` if it is
 * refused.
 */
export async function takeAssertion(request: AssertionRequest, parts: AssertionGrantParts): Promise<AssertedAccess> {
  try {
    const verified = await parts.verifier.verify(textOf(request.params["assertion"]), request.clientId);
    const resource = resourceOf(verified, request.params["resource"]);
    const scope = scopeOf(verified.claims, request.params["scope"], parts.scopes);
    const boundKey = await keyOf(request.proof, verified.claims, parts.proofs);
    await useOnce(verified, parts.used);
    const user = await userOf(verified, parts.users);
    const claims = boundedClaims(verified.claims);
    return { accountId: user.sub, scope, resource, claims, ...(boundKey !== undefined && { boundKey }) };
  } catch (error) {
    throw grantError(error);
  }
}

function grantError(error: unknown): unknown {
  if (error instanceof ProviderUnavailable) return new AssertionError("temporarily_unavailable", error.message);
  if (error instanceof ProofError) return new AssertionError(error.code, error.message, error.nonce);
  if (error instanceof TooManyChecked) return new AssertionError("temporarily_unavailable", error.message);
  const isRefusal = [TokenError, ProviderSignInError, OptionError].some((type) => error instanceof type);
  return isRefusal ? new AssertionError("invalid_grant", messageOf(error)) : error;
}

function textOf(assertion: unknown): string {
  if (typeof assertion === "string" && assertion !== "") return assertion;
  throw new AssertionError("invalid_request", "The parameter `assertion` is missing.");
}

/**
 * Resolves with the thumbprint of the key to which the access token must be bound, or with `undefined` for a bearer
 * token. This is the key of the proof in the request. Rejects with a `TokenError` if a required proof is missing, or if
 * the assertion is bound to another key.
 */
async function keyOf(proof: string, { cnf }: JsonObject, proofs: ProofCheck): Promise<string | undefined> {
  const assertedKey = boundKeyOf(cnf);
  if (proof === "" && assertedKey !== undefined)
    throw new TokenError("The assertion is bound to a key: send a proof of the key in the `DPoP` header");
  if (proof === "" && proofs.isRequired)
    throw new TokenError("This hub issues only tokens that are bound to a key: send a proof in the `DPoP` header");
  if (proof === "") return undefined;
  const key = await proofs.thumbprintOf(proof);
  if (assertedKey === undefined || assertedKey === key) return key;
  throw new TokenError("The assertion is bound to another key than the one of the proof");
}

function resourceOf({ resource }: VerifiedAssertion, requested: unknown): string {
  if (requested === undefined || requested === resource) return resource;
  throw new AssertionError("invalid_target", "The assertion does not permit the requested resource.");
}

/**
 * Returns the scopes that the assertion, the request and the hub have in common. An assertion without scopes permits
 * the base scope only, because no user consents to more.
 */
function scopeOf({ scope: permitted }: JsonObject, requested: unknown, known: readonly string[]): string {
  const names = (text: unknown): string[] => (typeof text === "string" ? text.split(" ").filter(Boolean) : []);
  const allowed = permitted === undefined ? known.slice(0, 1) : names(permitted).filter((name) => known.includes(name));
  const wanted = names(requested);
  const granted = wanted.length === 0 ? allowed : allowed.filter((name) => wanted.includes(name));
  if (granted.length > 0) return [...new Set(granted)].join(" ");
  throw new AssertionError("invalid_scope", "The assertion permits none of the scopes that this hub issues.");
}

async function useOnce({ provider, jti, expiresAt }: VerifiedAssertion, used: RecordStore): Promise<void> {
  if (!(await used.claim(JSON.stringify([provider.url, jti]), expiresAt)))
    throw new TokenError("The assertion was used before");
}

/**
 * Resolves with the user of the assertion. Stores the user's account if it is new or has changed. Assertions often lack
 * groups and e-mail addresses, so a missing claim changes nothing that an earlier sign-in has stored.
 */
async function userOf({ provider, claims }: VerifiedAssertion, users: Users): Promise<User> {
  const key = { provider: provider.id, issuer: provider.url, subject: subjectOf(claims["sub"]), groups: [] };
  const known = (await users.findByAccount(key))?.account;
  const groups = claimAt(claims, provider.groupsClaim);
  const given = claims["email_verified"] === true ? emailOf(claims["email"]) : undefined;
  const email = claims["email"] === undefined ? known?.email : given;
  const account: ProviderAccount = {
    ...key,
    ...(email !== undefined && { email }),
    groups: groups === undefined ? (known?.groups ?? []) : groupsOf(groups),
  };
  return admitAccount(account, provider, users);
}
