import { Audience } from "../../auth/audience.ts";
import { createOAuthAccess, type OAuthAccess } from "../../auth/create-oauth-access.ts";
import { resolveAuth, type HubAuthConfig, type AuthOptions } from "../../auth/options.ts";
import { AUTH_SERVER } from "../../auth/services.ts";
import { OptionError } from "../../core/errors.ts";
import { VARIABLES } from "../../core/services.ts";
import { isLoopbackHost } from "../../core/uris/loopback.ts";
import { AUTH_ENDPOINT } from "../../endpoints/auth/kind.ts";
import type { HttpOptions } from "../../http/options.ts";
import { createTokenLookup } from "../../http/request/tokens.ts";
import { defineFeature } from "../../kernel/feature.ts";
import { LOGGER } from "../../core/services.ts";
import { LiveAuthServer } from "./live-auth-server.ts";

/** Sections that decide how callers authenticate. */
export interface AuthReads {
  readonly auth?: HubAuthConfig;
  /** Maps each scope to the tools that need it. */
  readonly scopes?: object;
  readonly server?: { readonly token?: string; readonly tokens?: object };
}

/** Assumed number of callers that share limits such as the sandbox; a provider's number of users is unknown. */
const ASSUMED_PRINCIPALS = 16;

/** Feature: authenticates callers by OAuth access tokens. */
export const AUTH = defineFeature({
  name: "auth",
  uses: [VARIABLES, LOGGER],
  provides: [AUTH_SERVER],
  endpoints: [AUTH_ENDPOINT],
  check: assertTokensAccepted,
  start: ({ variables, logger }, config: () => AuthReads) => {
    const open = new Set<OAuthAccess>();
    const report = (reason: string): void => logger.warning("An access token could not be checked.", { reason });
    const servers = new LiveAuthServer({ variables, report });
    return {
      services: { authServer: () => servers.current() },
      access: {
        plan: () =>
          usesOAuth(resolveAuth(config().auth))
            ? { mode: "oauth", isGuarded: true, principals: ASSUMED_PRINCIPALS }
            : undefined,
        create: (http, grantRights) => {
          const { auth, scopes = {} } = config();
          const options = withScopes(resolveAuth(auth), Object.keys(scopes));
          assertReachable(http, options);
          const audience = new Audience(options.audience);
          const server = servers.create(options, audience);
          const access = createOAuthAccess({
            options,
            audience,
            ...(server && { server }),
            environment: variables,
            grantRights,
            ...(options.modes.includes("tokens") && { findStatic: createTokenLookup(http.tokens, grantRights) }),
            report,
          });
          open.add(access);
          return access;
        },
      },
      close: async () => {
        await servers.close();
        await Promise.all(Array.from(open, (access) => access.close()));
      },
    };
  },
});

/** Adds the scopes that tools need to the scopes that clients may request, since a challenge can name them. */
function withScopes({ builtin, ...options }: AuthOptions, scopes: readonly string[]): AuthOptions {
  const requestable = [...new Set([...(builtin?.scopes ?? options.scopes), ...scopes])];
  return { ...options, requestable, ...(builtin && { builtin: { ...builtin, scopes: requestable } }) };
}

function usesOAuth({ issuer, builtin }: AuthOptions): boolean {
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

/**
 * Throws an `OptionError` if clients on other machines would use an address for which no access token can be issued. A
 * token is valid for one address, and the hub cannot rely on the `Host` header of a request for that address.
 */
function assertReachable({ publicUrl, host }: HttpOptions, { builtin }: AuthOptions): void {
  if (publicUrl === undefined && !isLoopbackHost(host))
    throw new OptionError(
      `\`server.public_url\` is missing: access tokens are made for the address of this hub, and ${host} is not one ` +
        'that clients use. Set it, such as "https://hub.example.com".',
    );
  if (builtin && publicUrl?.startsWith("http:") === true && !isLoopbackHost(new URL(publicUrl).hostname))
    throw new OptionError('`auth.modes` with "builtin" needs a `server.public_url` that begins with https://.');
}
