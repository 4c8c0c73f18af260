import type { Grant, Identity } from "../../core/calls/identity.ts";
import type { NarrowRights } from "../../core/ports/permission.ts";
import { EVERYTHING, rightsOfEvery, rightsOfSome, rightsWithin, type Rights } from "../../core/ports/rights.ts";
import type { RoleConfig, RoleReads, RolesConfig, ScopesConfig } from "./options.ts";
import { isMember } from "./role-members.ts";

type Role = readonly [name: string, config: RoleConfig];

interface RolesOfIdentity {
  readonly roles: RolesConfig | undefined;
  readonly scopes: ScopesConfig | undefined;
  /** One grant for each identity. It must stay the same object, because permissions are cached by the rights object. */
  readonly grants: WeakMap<Identity, Grant | undefined>;
}

/** Roles of the current configuration, and the rights that they grant. */
export class LiveRoles {
  readonly #config: () => RoleReads;
  #resolved: RolesOfIdentity | undefined;

  constructor(config: () => RoleReads) {
    this.#config = config;
  }

  /**
   * Returns the rights that an identity's roles grant; the same object until the configuration changes. Returns
   * `undefined` if the identity needs a role and has none.
   */
  grant(identity: Identity): Grant | undefined {
    const { roles, grants } = this.#current();
    if (!grants.has(identity)) grants.set(identity, this.#createGrant(identity, roles ?? {}));
    return grants.get(identity);
  }

  /** Returns true if the roles of an identity permit the identity to have a scope. */
  permitsScope(identity: Identity, scope: string): boolean {
    if (identity.kind === "token") return true;
    const limited = this.#rolesOf(identity).filter(([, role]) => role.scopes !== undefined);
    return limited.length === 0 || limited.some(([, role]) => role.scopes!.includes(scope));
  }

  #rolesOf(identity: Identity): readonly Role[] {
    return Object.entries(this.#config().roles ?? {}).filter(([, { members }]) => isMember(identity, members));
  }

  #createGrant(identity: Identity, roles: RolesConfig): Grant | undefined {
    const held = this.#rolesOf(identity);
    if (held.length === 0) return hasOwnRights(identity, roles) ? ALL : undefined;
    const ratePerMinute = highestRate(held);
    return Object.freeze({
      rights: rightsOfRoles(held),
      roles: Object.freeze(held.map(([name]) => name)),
      scopes: scopesOf(identity, held),
      ...(ratePerMinute !== undefined && { ratePerMinute }),
    });
  }

  #current(): RolesOfIdentity {
    const { roles, scopes } = this.#config();
    if (!this.#resolved || this.#resolved.roles !== roles || this.#resolved.scopes !== scopes)
      this.#resolved = { roles, scopes, grants: new WeakMap() };
    return this.#resolved;
  }
}

const ALL: Grant = Object.freeze({ rights: EVERYTHING });

/** Returns true if the identity needs no role: an entry of `[server.tokens]` has separate rights. */
function hasOwnRights({ kind }: Identity, roles: RolesConfig): boolean {
  return kind === "token" || Object.keys(roles).length === 0;
}

/** Combines the rights of roles. An operation is permitted if at least one role permits it and no role denies it. */
export function rightsOfRoles(roles: readonly Role[]): Rights {
  const denied = roles.map(([name, { deny = [] }]) => rightsWithin({ deny, origin: `role ${name}` }));
  return rightsOfEvery([...denied, rightsOfSome(roles.map(limitsOf))]);
}

function limitsOf([name, { allow, sources, read_only: readOnly }]: Role): Rights {
  const limits: NarrowRights = {
    ...(allow && { allow }),
    ...(sources && { sources }),
    ...(readOnly && { readOnly }),
    origin: `role ${name}`,
  };
  return rightsWithin(limits);
}

function highestRate(roles: readonly Role[]): number | undefined {
  const rates = roles.flatMap(([, { rate_per_minute: rate }]) => (rate === undefined ? [] : [rate]));
  if (rates.length === 0) return undefined;
  return rates.includes(0) ? 0 : Math.max(...rates);
}

/**
 * Returns the scopes of an identity. A configured token has the scopes of its roles. An access token keeps those of its
 * scopes that its roles permit.
 */
function scopesOf({ kind, scopes }: Identity, roles: readonly Role[]): readonly string[] {
  const permitted = roles.flatMap(([, role]) => role.scopes ?? []);
  if (kind === "token") return permitted;
  return roles.some(([, role]) => role.scopes !== undefined)
    ? scopes.filter((scope) => permitted.includes(scope))
    : scopes;
}
