import { OWN_SIGN_IN, resolveAuth, type AuthOptions, type HubAuthConfig } from "../../auth/options.ts";
import { AUTH_SERVER } from "../../auth/services.ts";
import { OptionError } from "../../core/errors.ts";
import { LOGGER, VARIABLES } from "../../core/services.ts";
import { AUTH_ENDPOINT } from "../../endpoints/auth/kind.ts";
import { defineFeature } from "../../kernel/feature.ts";
import { STATE } from "../../state/ports/store.ts";
import type { LiveAccess } from "./live-access.ts";
import type { AuthReads } from "./reads.ts";

/** Assumed number of callers that share limits such as the sandbox; a provider's number of users is unknown. */
const ASSUMED_PRINCIPALS = 16;

/** Code of OAuth. Loaded by `prepare` if a hub requests it. */
let code: { readonly LiveAccess: typeof LiveAccess } | undefined;

/** Feature: authenticates callers by OAuth access tokens. */
export const AUTH = defineFeature({
  name: "auth",
  uses: [VARIABLES, LOGGER, STATE],
  provides: [AUTH_SERVER],
  endpoints: [AUTH_ENDPOINT],
  check: assertTokensAccepted,
  prepare: async ({ auth, store }: AuthReads, variables) => {
    if (!usesOAuth(auth)) return;
    if (store !== undefined && resolveAuth(auth).builtin)
      (await import("../../core/shared-key.ts")).sharedKey(variables, OWN_SIGN_IN);
    code ??= await import("./live-access.ts");
  },
  start: ({ variables, logger, state }, config: () => AuthReads) => {
    let live: LiveAccess | undefined;
    const access = (): LiveAccess => {
      if (!code) throw new TypeError("OAuth is used before its code was loaded.");
      return (live ??= new code.LiveAccess({ variables, logger, state, config }));
    };
    return {
      services: { authServer: () => access().authServer() },
      access: {
        plan: () =>
          usesOAuth(config().auth) ? { mode: "oauth", isGuarded: true, principals: ASSUMED_PRINCIPALS } : undefined,
        create: (http, grantRights) => access().create(http, grantRights),
      },
      close: async () => live?.close(),
    };
  },
});

function usesOAuth(auth: HubAuthConfig | undefined): boolean {
  if (auth === undefined) return false;
  const { issuer, builtin }: AuthOptions = resolveAuth(auth);
  return issuer !== undefined || builtin !== undefined;
}

/** Throws an `OptionError` if static tokens are configured but not accepted by `auth.modes`. */
function assertTokensAccepted({ auth, server = {} }: AuthReads): void {
  const { modes } = resolveAuth(auth);
  const hasTokens = server.token !== undefined || Object.keys(server.tokens ?? {}).length > 0;
  if (hasTokens && !modes.includes("tokens"))
    throw new OptionError(
      '`[server]` has tokens, but `auth.modes` does not contain "tokens". Add it there, or remove the tokens.',
    );
}
