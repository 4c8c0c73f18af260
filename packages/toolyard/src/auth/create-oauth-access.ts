import type { Access, AccessPlace } from "../core/access.ts";
import type { GrantRights } from "../core/calls/identity.ts";
import type { JsonObject } from "../core/json/json.ts";
import type { AdmittedCaller } from "../core/ports/authenticator.ts";
import type { ProxyEnvironment } from "../outbound/proxy.ts";
import type { HubNotifications } from "../state/ports/hub-notifications.ts";
import type { OneTimeIds } from "../state/ports/one-time-ids.ts";
import { StoreLostError } from "../state/ports/store.ts";
import { AccessTokenAuthenticator, type ProofChecker, type TokenVerifier } from "./access-token-authenticator.ts";
import type { Audience } from "./audience.ts";
import type { AuthServerHandle } from "./builtin/auth-server-handle.ts";
import { PROOF_ALGORITHMS } from "./dpop/algorithms.ts";
import type { ProofRules } from "./dpop/proof-verifier.ts";
import { TokenError, UnknownToken } from "./token-error.ts";
import type { AuthOptions, IssuerOptions } from "./options.ts";
import { resourceDocument } from "./resource-metadata.ts";

export interface OAuthAccessParts {
  readonly options: AuthOptions;
  readonly audience: Audience;
  /** Absent if the mode `builtin` is off. */
  readonly server?: AuthServerHandle;
  /** Returns the secret for the nonces of proofs. Absent if proofs need no nonce. */
  readonly nonceSecret?: (() => Uint8Array) | undefined;
  /** Ids of proofs that the hubs of the shared store have accepted. Absent if there are no other hubs. */
  readonly shared?: OneTimeIds | undefined;
  /** Path prefix of requests to the hub, which the hub's canonical address contains too. @default none */
  readonly basePath?: string;
  readonly environment: ProxyEnvironment;
  readonly grantRights: GrantRights;
  /** Absent if static tokens are not accepted. */
  readonly findStatic?: (digest: Buffer) => AdmittedCaller | undefined;
  readonly report: (problem: string) => void;
  /** Messages of all hubs about ended access. @default none */
  readonly notifications?: Pick<HubNotifications, "on"> | undefined;
  /** True if tokens of `server` are in a store. @default false */
  readonly isShared?: boolean;
  /** Milliseconds since 1970. @default the clock */
  readonly now?: () => number;
}

/** Access of one address, and a function that closes it. */
export interface OAuthAccess extends Access {
  close(): Promise<void>;
}

/** Maximum time for which the result of an introspection is used. */
const MAX_INTROSPECTION_MS = 60_000;
/** Maximum time for which a look-up of the hub's own token is used. Short, because a look-up is cheap. */
const MAX_LOOKUP_MS = 1000;
/**
 * The same for tokens in a store. Other hubs announce ended access, so this time applies only if the message is lost.
 */
const MAX_STORE_LOOKUP_MS = 10_000;

/** Creates the access of an address for callers that send OAuth access tokens. */
export function createOAuthAccess(parts: OAuthAccessParts): OAuthAccess {
  const { options, audience, server, nonceSecret, shared, basePath = "", now = Date.now } = parts;
  const { issuer, clockSkewMs, scopes, requiresDpop } = options;
  const binding = { algorithms: PROOF_ALGORITHMS, isRequired: requiresDpop };
  const ofIssuer = issuer && createLateVerifier(parts, issuer);
  const authenticator = new AccessTokenAuthenticator({
    ...(parts.findStatic && { findStatic: parts.findStatic }),
    verifier: joinVerifiers(server?.verifier, ofIssuer),
    grantRights: parts.grantRights,
    scopes,
    proofs: createLateProofs({ now, ...(nonceSecret && { nonceSecret }), ...(shared && { shared }) }),
    binding,
    basePath,
    clockSkewMs,
    maxCachedMs: maxCachedMs(parts),
    now,
    report: parts.report,
  });
  const stopListening = server && listenTo(parts.notifications, server, authenticator);
  let place: AccessPlace | undefined;
  const issuers = (): readonly string[] => [...(server ? [server.baseUrl] : []), ...(issuer ? [issuer.url] : [])];
  return {
    mode: "oauth",
    isGuarded: true,
    authenticator,
    documents: [resourceDocument({ issuers, scopes: () => options.requestable ?? scopes, binding }, () => place)],
    securitySchemes: () => securitySchemes(issuers(), parts.findStatic !== undefined),
    loadCodeFlows: async (client) => {
      const { createCodeFlows } = await import("./code-flow/create-code-flows.ts");
      const { environment } = parts;
      return createCodeFlows({ options, server, environment, baseUrl: place?.baseUrl ?? "", now }, client);
    },
    opened: (opened) => {
      place = opened;
      audience.use(opened);
      server?.use(opened);
      authenticator.use(opened);
    },
    close: async () => {
      stopListening?.();
      await ofIssuer?.close();
    },
  };
}

function maxCachedMs({ server, isShared = false, options: { issuer } }: OAuthAccessParts): number {
  if (server) return isShared ? MAX_STORE_LOOKUP_MS : MAX_LOOKUP_MS;
  return issuer?.verify === "introspection" ? MAX_INTROSPECTION_MS : Infinity;
}

/** Ends cached verifications after messages about ended access. Returns a function that stops it. */
function listenTo(
  notifications: OAuthAccessParts["notifications"],
  server: AuthServerHandle,
  authenticator: AccessTokenAuthenticator,
): (() => void) | undefined {
  const end = async (tokens: readonly string[]): Promise<void> => {
    // Tokens that are verified again must be compared with the changed users.
    if (tokens.length === 0) await server.accountsChanged();
    authenticator.accessEnded(tokens);
  };
  return notifications?.on((notification) => {
    if (notification.type === "access-ended") void end(notification.tokens.split(" ").filter((token) => token !== ""));
  });
}

/** Joins two verifiers. The hub's own verifier is tried first, because it looks up tokens without a network request. */
function joinVerifiers(own: TokenVerifier | undefined, foreign: TokenVerifier | undefined): TokenVerifier {
  if (!own || !foreign) return own ?? foreign ?? { verify: () => Promise.reject(new TokenError("There is no issuer")) };
  return {
    verify: (token) =>
      own.verify(token).catch((error: unknown) => {
        if (error instanceof UnknownToken) return foreign.verify(token);
        if (!(error instanceof StoreLostError)) throw error;
        // Without the store it is unknown whether the token is one of this hub.
        return foreign.verify(token).catch((other: unknown) => {
          throw other instanceof TokenError ? error : other;
        });
      }),
  };
}

/**
 * Creates a verifier that loads its code, and the provider's keys, in the background before the first token arrives.
 */
function createLateVerifier(
  { audience, environment, options: { clockSkewMs }, now = Date.now }: OAuthAccessParts,
  issuer: IssuerOptions,
): TokenVerifier & { close(): Promise<void> } {
  const loading = import("./issuer/create-issuer-verifier.ts").then(({ createIssuerVerifier }) =>
    createIssuerVerifier({ issuer, audience, clockSkewMs, environment, now }),
  );
  // If loading fails, the verification of the first token reports the failure.
  loading.catch(() => {});
  return {
    verify: async (token) => (await loading).verify(token),
    close: async () => (await loading.catch(() => undefined))?.close(),
  };
}

/** Creates a verifier of proofs that loads its code when the first proof arrives, because few clients send any. */
function createLateProofs(rules: ProofRules): ProofChecker {
  let loading: Promise<ProofChecker> | undefined;
  const load = async (): Promise<ProofChecker> => new (await import("./dpop/proof-verifier.ts")).ProofVerifier(rules);
  return { verify: async (proof, request) => (await (loading ??= load())).verify(proof, request) };
}

function securitySchemes(issuers: readonly string[], hasTokens: boolean): Readonly<Record<string, JsonObject>> {
  const schemes = issuers.map((issuer, at) => [
    at === 0 ? "oauth" : `oauth${at + 1}`,
    { type: "openIdConnect", openIdConnectUrl: `${issuer.replace(/\/$/, "")}/.well-known/openid-configuration` },
  ]);
  return { ...Object.fromEntries(schemes), ...(hasTokens && { token: { type: "http", scheme: "bearer" } }) };
}
