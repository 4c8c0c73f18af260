import type { Access, AccessPlace } from "../core/access.ts";
import type { GrantRights } from "../core/calls/identity.ts";
import type { JsonObject } from "../core/json/json.ts";
import type { AdmittedCaller } from "../core/ports/authenticator.ts";
import type { ProxyEnvironment } from "../outbound/proxy.ts";
import { AccessTokenAuthenticator, type TokenVerifier } from "./access-token-authenticator.ts";
import { Audience } from "./audience.ts";
import type { AuthOptions, IssuerOptions } from "./options.ts";
import { resourceDocument } from "./resource-metadata.ts";

export interface OAuthAccessParts {
  readonly options: AuthOptions & { readonly issuer: IssuerOptions };
  readonly environment: ProxyEnvironment;
  readonly grantRights: GrantRights;
  /** Absent: static tokens are not accepted. */
  readonly findStatic?: (digest: Buffer) => AdmittedCaller | undefined;
  readonly report: (problem: string) => void;
  /** Milliseconds since 1970. @default the clock */
  readonly now?: () => number;
}

/** The access of one place, and a function that closes it. */
export interface OAuthAccess extends Access {
  close(): Promise<void>;
}

/** Longest time for which the answer of an introspection is used. */
const MAX_INTROSPECTION_MS = 60_000;

/** Creates the access of a place with callers that use access tokens of an identity provider. */
export function createOAuthAccess(parts: OAuthAccessParts): OAuthAccess {
  const { options, environment, now = Date.now } = parts;
  const { issuer, clockSkewMs, scopes } = options;
  const audience = new Audience(options.audience);
  const verifier = lateVerifier(async () => {
    const { createIssuerVerifier } = await import("./issuer/create-issuer-verifier.ts");
    return createIssuerVerifier({ issuer, audience, clockSkewMs, environment, now });
  });
  const authenticator = new AccessTokenAuthenticator({
    ...(parts.findStatic && { findStatic: parts.findStatic }),
    verifier,
    grantRights: parts.grantRights,
    scopes,
    clockSkewMs,
    maxCachedMs: issuer.verify === "introspection" ? MAX_INTROSPECTION_MS : Infinity,
    now,
    report: parts.report,
  });
  let place: AccessPlace | undefined;
  return {
    mode: "oauth",
    isGuarded: true,
    authenticator,
    documents: [resourceDocument({ issuers: () => [issuer.url], scopes: () => scopes }, () => place)],
    securitySchemes: () => securitySchemes(issuer.url, parts.findStatic !== undefined),
    opened: (opened) => {
      place = opened;
      audience.use(opened);
      authenticator.use(opened);
    },
    close: () => verifier.close(),
  };
}

/** Loads the code that verifies tokens, and lets it read the provider's keys, before the first token comes. */
function lateVerifier(
  load: () => Promise<TokenVerifier & { close(): Promise<void> }>,
): TokenVerifier & { close(): Promise<void> } {
  const loading = load();
  // A failure is reported by the first token that needs it.
  loading.catch(() => {});
  return {
    verify: async (token) => (await loading).verify(token),
    close: async () => (await loading.catch(() => undefined))?.close(),
  };
}

function securitySchemes(issuer: string, hasTokens: boolean): Readonly<Record<string, JsonObject>> {
  const oidc = {
    type: "openIdConnect",
    openIdConnectUrl: `${issuer.replace(/\/$/, "")}/.well-known/openid-configuration`,
  };
  return { oauth: oidc, ...(hasTokens && { token: { type: "http", scheme: "bearer" } }) };
}
