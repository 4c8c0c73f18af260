import { createOAuthAccess, type OAuthAccess } from "../../auth/create-oauth-access.ts";
import { AuthSchema, resolveAuth, type AuthConfig } from "../../auth/options.ts";
import { OptionError } from "../../core/errors.ts";
import { Type } from "../../core/options/option-schema.ts";
import { LOGGER, VARIABLES } from "../../core/services.ts";
import { isLoopbackHost } from "../../core/uris/loopback.ts";
import type { HttpOptions } from "../../http/options.ts";
import { createTokenLookup } from "../../http/request/tokens.ts";
import { defineFeature } from "../../kernel/feature.ts";

/** Sections that decide how callers authenticate. */
export interface AuthReads {
  readonly auth?: AuthConfig;
  readonly server?: { readonly token?: string; readonly tokens?: object };
}

/** Callers that share limits such as the sandbox; how many users a provider has is not known. */
const ASSUMED_PRINCIPALS = 16;

/** Sign-in of callers by access tokens of OAuth. */
export const AUTH = defineFeature({
  name: "auth",
  schema: { auth: Type.Optional(AuthSchema) },
  uses: [VARIABLES, LOGGER],
  check: assertTokensAccepted,
  start: ({ variables, logger }, config: () => AuthReads) => {
    const open = new Set<OAuthAccess>();
    return {
      access: {
        plan: () =>
          resolveAuth(config().auth).issuer && { mode: "oauth", isGuarded: true, principals: ASSUMED_PRINCIPALS },
        create: (http, grantRights) => {
          const { issuer, ...options } = resolveAuth(config().auth);
          if (!issuer) throw new Error("The access of OAuth was created without an issuer.");
          assertReachable(http);
          const access = createOAuthAccess({
            options: { ...options, issuer },
            environment: variables,
            grantRights,
            ...(options.modes.includes("tokens") && { findStatic: createTokenLookup(http.tokens, grantRights) }),
            report: (problem) => logger.warning("An access token could not be checked.", { reason: problem }),
          });
          open.add(access);
          return access;
        },
      },
      close: async () => void (await Promise.all(Array.from(open, (access) => access.close()))),
    };
  },
});

/** Throws an `OptionError` for tokens that no caller could use. */
function assertTokensAccepted({ auth, server = {} }: AuthReads): void {
  const { modes } = resolveAuth(auth);
  const hasTokens = server.token !== undefined || Object.keys(server.tokens ?? {}).length > 0;
  if (hasTokens && !modes.includes("tokens"))
    throw new OptionError(
      '`[server]` has tokens, but `auth.modes` does not contain "tokens". Add it there, or remove the tokens.',
    );
}

/** Access tokens are made for one address, which requests cannot be trusted to name. */
function assertReachable({ publicUrl, host }: HttpOptions): void {
  if (publicUrl !== undefined || isLoopbackHost(host)) return;
  throw new OptionError(
    `\`server.public_url\` is missing: access tokens are made for the address of this hub, and ${host} is not one ` +
      'that clients use. Set it, such as "https://hub.example.com".',
  );
}
