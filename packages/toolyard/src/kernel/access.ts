import type { Access, AccessPlan } from "../core/access.ts";
import type { HttpOptions } from "../http/options.ts";
import { createTokenAccess, planTokenAccess, type TokenSettings } from "../http/request/tokens.ts";
import type { AccessKind, AnyFeature } from "./feature.ts";

interface AccessReads {
  readonly server?: TokenSettings;
}

/** Tokens of `[server]`, or no credentials; holds where no feature has another way. */
const TOKENS = {
  plan: ({ server }: AccessReads) => planTokenAccess(server),
  create: (_config: AccessReads, http: HttpOptions) => createTokenAccess(http),
} satisfies AccessKind<AccessReads>;

/** Returns how callers have to prove who they are, as a configuration says. Throws an `OptionError`. */
export function planAccess(features: readonly AnyFeature[], config: object): AccessPlan {
  return choose(features, config).plan;
}

/** Creates the access of one place that the hub is served at. Throws an `OptionError`. */
export function createAccess(features: readonly AnyFeature[], config: object, http: HttpOptions): Access {
  return choose(features, config).kind.create(config, http);
}

interface Choice {
  readonly kind: AccessKind<object>;
  readonly plan: AccessPlan;
}

function choose(features: readonly AnyFeature[], config: object): Choice {
  for (const { access } of features) {
    const kind = access as AccessKind<object> | undefined;
    const plan = kind?.plan(config);
    if (kind && plan) return { kind, plan };
  }
  return { kind: TOKENS, plan: TOKENS.plan(config) };
}
