import { Audience } from "../../auth/audience.ts";
import type { AuthServerHandle } from "../../auth/builtin/auth-server-handle.ts";
import { createOAuthAccess, type OAuthAccess } from "../../auth/create-oauth-access.ts";
import { resolveAuth, type AuthOptions } from "../../auth/options.ts";
import type { GrantRights } from "../../core/calls/identity.ts";
import { OptionError } from "../../core/errors.ts";
import type { Logger } from "../../core/ports/ports.ts";
import { isLoopbackHost } from "../../core/uris/loopback.ts";
import type { HttpOptions } from "../../http/options.ts";
import { createTokenLookup } from "../../http/request/tokens.ts";
import type { HubState } from "../../state/ports/store.ts";
import { LiveAuthServer } from "./live-auth-server.ts";
import type { AuthReads } from "./reads.ts";

export interface LiveAccessParts {
  readonly variables: Readonly<Record<string, string | undefined>>;
  readonly logger: Pick<Logger, "warning">;
  readonly state: Pick<HubState, "secret" | "oneTimeIds" | "notifications" | "openAuthState">;
  /** Returns the current configuration. */
  readonly config: () => AuthReads;
}

/** Access by OAuth, for each address of a hub. Loaded if the configuration requests it. */
export class LiveAccess {
  readonly #parts: LiveAccessParts;
  readonly #servers: LiveAuthServer;
  readonly #open = new Set<OAuthAccess>();
  readonly #report: (reason: string) => void;

  constructor(parts: LiveAccessParts) {
    const { variables, logger, state } = parts;
    this.#parts = parts;
    this.#report = (reason) => logger.warning("An access token could not be checked.", { reason });
    this.#servers = new LiveAuthServer({ variables, state, report: this.#report });
  }

  /** Returns the authorization server of the address that was opened last. */
  authServer(): AuthServerHandle {
    return this.#servers.current();
  }

  create(http: HttpOptions, grantRights: GrantRights): OAuthAccess {
    const { variables, state, config } = this.#parts;
    const { auth, scopes = {} } = config();
    const options = withScopes(resolveAuth(auth), Object.keys(scopes));
    assertReachable(http, options);
    const audience = new Audience(options.audience);
    const nonceSecret = options.usesNonces ? () => state.secret : undefined;
    const server = this.#servers.create(options, { audience, nonceSecret });
    const access = createOAuthAccess({
      options,
      audience,
      ...(server && { server }),
      nonceSecret,
      shared: state.oneTimeIds,
      notifications: state.notifications,
      isShared: state.openAuthState !== undefined,
      basePath: http.basePath,
      environment: variables,
      grantRights,
      ...(options.modes.includes("tokens") && { findStatic: createTokenLookup(http.tokens, grantRights) }),
      report: this.#report,
    });
    this.#open.add(access);
    return access;
  }

  async close(): Promise<void> {
    await this.#servers.close();
    await Promise.all(Array.from(this.#open, (access) => access.close()));
  }
}

/** Adds the scopes that tools need to the scopes that clients may request, since a challenge can name them. */
function withScopes({ builtin, ...options }: AuthOptions, scopes: readonly string[]): AuthOptions {
  const requestable = [...new Set([...(builtin?.scopes ?? options.scopes), ...scopes])];
  return { ...options, requestable, ...(builtin && { builtin: { ...builtin, scopes: requestable } }) };
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
