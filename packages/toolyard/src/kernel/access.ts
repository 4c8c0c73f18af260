import type { Access, AccessPlan } from "../core/access.ts";
import type { GrantRights } from "../core/calls/identity.ts";
import type { HttpOptions } from "../http/options.ts";
import { createTokenAccess, planTokenAccess, type TokenSettings } from "../http/request/tokens.ts";
import type { AccessKind, Contribution } from "./feature.ts";

/** Returns how callers have to prove who they are, where `[server]` has these tokens. Throws an `OptionError`. */
export function planAccess(contributions: readonly Contribution[], server: TokenSettings | undefined): AccessPlan {
  return choose(contributions)?.plan ?? planTokenAccess(server);
}

/** Creates the access of one place that the hub is served at. Throws an `OptionError`. */
export function createAccess(contributions: readonly Contribution[], http: HttpOptions): Access {
  return choose(contributions)?.kind.create(http, grantOf(contributions, http)) ?? createTokenAccess(http);
}

/** Returns how identities get their rights: by the first feature that gives them, else all that the place allows. */
function grantOf(contributions: readonly Contribution[], { openRights }: HttpOptions): GrantRights {
  const whole = Object.freeze({ rights: openRights });
  return contributions.find(({ grantRights }) => grantRights)?.grantRights ?? (() => whole);
}

interface Choice {
  readonly kind: AccessKind;
  readonly plan: AccessPlan;
}

/** Returns nothing where tokens of `[server]` decide, or no credentials are needed. */
function choose(contributions: readonly Contribution[]): Choice | undefined {
  for (const { access: kind } of contributions) {
    const plan = kind?.plan();
    if (kind && plan) return { kind, plan };
  }
  return undefined;
}
