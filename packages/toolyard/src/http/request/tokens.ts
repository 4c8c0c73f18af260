import { createHash, timingSafeEqual } from "node:crypto";
import { openAccess, type Access, type AccessPlan } from "../../core/access.ts";
import type {
  AdmittedCaller,
  Authentication,
  Authenticator,
  Credentials,
  RefusedCaller,
} from "../../core/ports/authenticator.ts";
import { LOCAL_PRINCIPAL, type Principal } from "../../core/calls/call.ts";
import { grantedFacts, type GrantRights, type Identity } from "../../core/calls/identity.ts";
import { EVERYTHING, rightsOfEvery } from "../../core/ports/rights.ts";
import { isLoopbackHost } from "../../core/uris/loopback.ts";
import type { HttpOptions, TokenEntry } from "../options.ts";

/**
 * Returns the access plan of `[server]`. With tokens, callers need one; without tokens, all callers are the local
 * principal.
 */
export function planTokenAccess({ token, tokens = {} }: TokenSettings = {}): AccessPlan {
  const count = (token === undefined ? 0 : 1) + Object.keys(tokens).length;
  return { mode: count > 0 ? "bearer" : "open", isGuarded: count > 0, principals: Math.max(1, count) };
}

/** Keys of `[server]` that contain tokens. */
export interface TokenSettings {
  readonly token?: string;
  readonly tokens?: object;
}

/** Creates the access that `planTokenAccess` describes. */
export function createTokenAccess(
  { tokens, openRights, host, trustedProxies }: Pick<HttpOptions, "tokens" | "openRights" | "host" | "trustedProxies">,
  grantRights: GrantRights = () => undefined,
): Access {
  if (tokens.length > 0)
    return Object.freeze({
      mode: "bearer",
      isGuarded: true,
      authenticator: new TokenAuthenticator(tokens, grantRights),
      documents: [],
    });
  // Behind a proxy, requests from other machines seem to come from this machine.
  const isOpen = !isLoopbackHost(host) || trustedProxies.length > 0;
  const principal = { ...LOCAL_PRINCIPAL, rights: openRights, ...(isOpen && { remote: true }) };
  return openAccess(Object.freeze(principal));
}

interface KnownToken {
  readonly digest: Buffer;
  readonly admitted: AdmittedCaller;
}

/** Returns the caller of a token, by the SHA-256 digest of its text. */
export type FindToken = (digest: Buffer) => AdmittedCaller | undefined;

/**
 * Creates a function that finds the caller of a token. It compares all tokens, and digests have the same length, so the
 * time reveals nothing about any token.
 */
export function createTokenLookup(
  entries: readonly TokenEntry[],
  grantRights: GrantRights = () => undefined,
): FindToken {
  // The principal of a token can be created once, because endpoints are opened again when roles change.
  const known: readonly KnownToken[] = entries.map((entry) => ({
    digest: digestOf(entry.token),
    admitted: Object.freeze({ admitted: true, principal: tokenPrincipal(entry, grantRights) }),
  }));
  return (digest) => {
    let found: AdmittedCaller | undefined;
    for (const one of known) if (timingSafeEqual(one.digest, digest)) found = one.admitted;
    return found;
  };
}

/** Authenticates `Authorization: Bearer` with the known tokens. */
class TokenAuthenticator implements Authenticator {
  readonly #find: FindToken;

  constructor(entries: readonly TokenEntry[], grantRights: GrantRights) {
    this.#find = createTokenLookup(entries, grantRights);
  }

  authenticate(credentials: Credentials): Authentication {
    const authorization = credentials.header("authorization");
    if (authorization === undefined) return refusal("Missing Authorization header");
    const token = /^bearer +(\S+) *$/i.exec(authorization)?.[1];
    if (token === undefined) return refusal("Invalid Authorization header format, expected 'Bearer TOKEN'");
    return this.#find(digestOf(token)) ?? refusal("The token is not known here");
  }
}

/**
 * Creates the principal of a token. Roles narrow the rights of the token's entry. The rate of the entry has precedence
 * over the rate of the roles.
 */
export function tokenPrincipal({ name, rights, ratePerMinute }: TokenEntry, grantRights: GrantRights): Principal {
  const identity: Identity = { kind: "token", id: name, name, groups: [], scopes: [], claims: {} };
  const grant = grantRights(identity);
  return Object.freeze({
    id: name,
    identity,
    ...(grant && grantedFacts(grant)),
    rights: rightsOfEvery([rights, grant?.rights ?? EVERYTHING]),
    ...(ratePerMinute !== undefined && { ratePerMinute }),
  });
}

function digestOf(token: string): Buffer {
  return createHash("sha256").update(token).digest();
}

function refusal(message: string): RefusedCaller {
  return { admitted: false, message, challenge: tokenChallenge(message) };
}

function tokenChallenge(description: string): string {
  return `Bearer realm="toolyard", error="invalid_token", error_description="${description}"`;
}
