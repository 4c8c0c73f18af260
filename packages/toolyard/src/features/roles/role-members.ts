import type { Identity } from "../../core/calls/identity.ts";
import type { RoleConfig } from "./options.ts";

type Members = NonNullable<RoleConfig["members"]>;
type Claims = NonNullable<Members["claims"]>;

/** Returns true if an identity has a role with these members. */
export function isMember(identity: Identity, members: Members = {}): boolean {
  const { tokens = [], everyone = false } = members;
  if (everyone) return true;
  return identity.kind === "token" ? tokens.includes(identity.name) : isSignedInMember(identity, members);
}

function isSignedInMember(identity: Identity, members: Members): boolean {
  const { users = [], groups = [], clients = [], claims, issuer } = members;
  if (hasClaims(identity, claims) && claimIssuerFits(identity, issuer)) return true;
  if (issuer !== undefined && issuer !== identity.issuer) return false;
  const { kind, id, name, clientId = "" } = identity;
  const isNamed = kind === "user" ? users.includes(name) || users.includes(id) : clients.includes(clientId);
  return isNamed || isInGroups(identity, groups);
}

/**
 * Returns true if the claims come from the issuer that the role names, or from the identity's own issuer if the role
 * names none. Claims of an identity assertion come from another issuer than the hub's access token. They count only for
 * a role that names this issuer, because each issuer chooses its claims.
 */
function claimIssuerFits({ issuer: own, claims }: Identity, wanted: string | undefined): boolean {
  const { iss = own } = claims;
  return iss === (wanted ?? own);
}

function isInGroups(identity: Identity, groups: readonly string[]): boolean {
  return identity.groups.some((group) => groups.includes(group));
}

function hasClaims(identity: Identity, claims: Claims | undefined): boolean {
  const wanted = Object.entries(claims ?? {});
  return wanted.length > 0 && wanted.every(([name, value]) => hasClaim(identity, name, value));
}

/**
 * Returns true if a claim, or one value of a list claim, equals the expected value. Values of another type do not
 * match.
 */
function hasClaim({ claims }: Identity, name: string, wanted: Claims[string]): boolean {
  const found: unknown = Object.hasOwn(claims, name) ? claims[name] : undefined;
  const accepted: readonly unknown[] = Array.isArray(wanted) ? wanted : [wanted];
  const values: readonly unknown[] = Array.isArray(found) ? found : [found];
  return values.some((value) => value !== undefined && accepted.includes(value));
}
