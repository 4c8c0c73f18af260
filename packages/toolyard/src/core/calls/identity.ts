import type { JsonObject } from "../json/json.ts";
import type { Rights } from "../ports/rights.ts";

/** Kinds of identities: an entry of `server.tokens`, a user, or an OAuth client that acts for itself. */
export type IdentityKind = "token" | "user" | "client";

/**
 * Facts about an authenticated caller, on which roles decide its rights. Plain data, because it is sent between
 * processes and stored with sessions. Never contains a credential.
 */
export interface Identity {
  readonly kind: IdentityKind;
  /** Id that is unique in the hub and the same for every token of this identity. Equals the `id` of the principal. */
  readonly id: string;
  /** Name for display: the user name, the name of the token's entry, or the client id. */
  readonly name: string;
  /** True if the hub ensures that no other user has this name, so that rules may compare it. @default false */
  readonly isNameUnique?: boolean;
  /** Issuer of the access token. Absent for an entry of `server.tokens`. */
  readonly issuer?: string;
  /** `client_id` of the OAuth client that sent the access token. */
  readonly clientId?: string;
  readonly groups: readonly string[];
  /** Scopes of the access token. A token of `server.tokens` has none. */
  readonly scopes: readonly string[];
  /**
   * Claims of the access token that roles may compare: at most `MAX_CLAIM_BYTES` as JSON; claims over that limit are
   * omitted.
   */
  readonly claims: JsonObject;
  /** End of validity of the access token, in milliseconds since 1970. */
  readonly expiresAt?: number;
  /**
   * Thumbprint (RFC 7638) of the key to which the access token is bound. Each request then needs a proof of the key
   * (RFC 9449). Absent for a bearer token.
   */
  readonly boundKey?: string;
}

/** Maximum size of `Identity.claims` as JSON, in bytes. */
export const MAX_CLAIM_BYTES = 8192;

/** Rights that roles grant to an identity. */
export interface Grant {
  readonly rights: Rights;
  /** Calls per minute; 0 for no limit. @default `[limits] rate_per_minute` */
  readonly ratePerMinute?: number;
  /** Names of the roles that grant the rights. @default none */
  readonly roles?: readonly string[];
  /** Scopes that the identity may use. @default the scopes of its access token */
  readonly scopes?: readonly string[];
}

/** Returns the members of a principal, except its rights, that a grant determines. */
export function grantedFacts({ ratePerMinute, roles, scopes }: Grant): Omit<Grant, "rights"> {
  return {
    ...(ratePerMinute !== undefined && { ratePerMinute }),
    ...(roles && { roles }),
    ...(scopes && { scopes }),
  };
}

/**
 * Returns the rights of an identity. Returns `undefined` if no role admits it; the caller is then refused with 403.
 */
export type GrantRights = (identity: Identity) => Grant | undefined;
