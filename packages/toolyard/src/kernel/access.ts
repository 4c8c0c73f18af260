import type { Access, AccessPlan } from "../core/access.ts";
import type { Grant, GrantRights } from "../core/calls/identity.ts";
import { EVERYTHING, rightsOfEvery } from "../core/ports/rights.ts";
import type { HttpOptions } from "../http/options.ts";
import { createTokenAccess, planTokenAccess, type TokenSettings } from "../http/request/tokens.ts";
import type { AccessKind, Contribution } from "./feature.ts";

/**
 * Returns the authentication that a feature requests, otherwise that of the tokens in `[server]`. Throws an
 * `OptionError`.
 */
export function planAccess(contributions: readonly Contribution[], server: TokenSettings | undefined): AccessPlan {
  return choose(contributions)?.plan ?? planTokenAccess(server);
}

/** Creates the access of one address at which the hub is served. Throws an `OptionError`. */
export function createAccess(contributions: readonly Contribution[], http: HttpOptions): Access {
  const grantRights = contributions.find((one) => one.grantRights)?.grantRights ?? (() => WHOLE);
  return (
    choose(contributions)?.kind.create(http, grantWithin(grantRights, http)) ?? createTokenAccess(http, grantRights)
  );
}

const WHOLE: Grant = Object.freeze({ rights: EVERYTHING });

/**
 * Limits grants to the rights of the address. Returns one object for each grant, because caches use it as their key.
 */
function grantWithin(grantRights: GrantRights, { openRights }: HttpOptions): GrantRights {
  if (openRights === EVERYTHING) return grantRights;
  const known = new WeakMap<Grant, Grant>();
  return (identity) => {
    const grant = grantRights(identity);
    if (!grant) return undefined;
    let within = known.get(grant);
    if (!within) known.set(grant, (within = { ...grant, rights: rightsOfEvery([openRights, grant.rights]) }));
    return within;
  };
}

interface Choice {
  readonly kind: AccessKind;
  readonly plan: AccessPlan;
}

/**
 * Returns the first access kind that requires authentication, with its plan. Returns `undefined` if there is none; the
 * tokens of `[server]` then decide.
 */
function choose(contributions: readonly Contribution[]): Choice | undefined {
  for (const { access: kind } of contributions) {
    const plan = kind?.plan();
    if (kind && plan) return { kind, plan };
  }
  return undefined;
}
