import { createHmac } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { JsonObject } from "../../core/json/json.ts";
import { PROOF_ALGORITHMS } from "../dpop/algorithms.ts";
import type { ModelAdapter } from "./adapter.ts";
import {
  ASSERTION_GRANT,
  ASSERTION_PARAMETERS,
  ASSERTION_PROFILE,
  AssertionError,
  type AssertedAccess,
  type AssertionRequest,
} from "./assertions/assertion-grant.ts";
import { consoleClient } from "./console-client.ts";
import {
  deviceFlowOf,
  type DeviceContext,
  type DevicePage,
  type ErrorContext,
  type RegisteredOidcClient,
} from "./device-flow.ts";
import type { AuthServerOptions, MachineClient } from "./options.ts";
import type { User } from "./users.ts";

/** The part of the library's server that the hub uses. */
export interface OidcProvider {
  callback(): (request: IncomingMessage, response: ServerResponse) => Promise<void>;
  interactionDetails(request: IncomingMessage, response: ServerResponse): Promise<Interaction>;
  interactionResult(request: IncomingMessage, response: ServerResponse, result: JsonObject): Promise<string>;
  readonly Grant: GrantClass;
  readonly AccessToken: AccessTokenClass;
  /** Adds a grant type to the token endpoint. */
  registerGrantType(name: string, handler: (context: GrantContext) => Promise<void>, params: readonly string[]): void;
  readonly Client: { find(id: string): Promise<RegisteredOidcClient | undefined> };
}

/** Sign-in that waits for the user. */
export interface Interaction {
  readonly jti: string;
  readonly prompt: { readonly name: string; readonly details: JsonObject };
  readonly params: Readonly<Record<string, string | undefined>>;
  readonly session?: { readonly accountId?: string };
}

export interface LibraryGrant {
  addOIDCScope(scope: string): void;
  addResourceScope(resource: string, scope: string): void;
  save(): Promise<string>;
}

interface AccessToken {
  expiresIn: number;
  readonly tokenType: string;
  setAudience(audience: string): void;
  setThumbprint(kind: "jkt", thumbprint: string): void;
  save(): Promise<string>;
}
type AccessTokenClass = new (facts: {
  readonly accountId: string;
  readonly client: unknown;
  readonly gty: string;
  readonly scope: string;
}) => AccessToken;

/** Request to the token endpoint. The handler of the grant type sets the body of the answer. */
export interface GrantContext {
  body: unknown;
  /** Returns a request header, or an empty string. */
  get(name: string): string;
  /** Sets a response header. */
  set(name: string, value: string): void;
  readonly oidc: { readonly client: { readonly clientId: string }; readonly params: Readonly<Record<string, unknown>> };
}

export type GrantClass = new (facts: { readonly accountId: string; readonly clientId: string }) => LibraryGrant;
export type ProviderClass = new (issuer: string, configuration: object) => OidcProvider;

export interface ProviderParts {
  readonly issuer: string;
  readonly options: AuthServerOptions;
  readonly keys: { readonly jwks: readonly object[]; readonly cookies: readonly string[] };
  readonly createAdapter: (model: string) => ModelAdapter;
  readonly findUser: (sub: string) => Promise<User | undefined>;
  readonly isResource: (resource: string) => boolean;
  /** True if access tokens must be bound to a key (RFC 9449). */
  readonly requiresDpop: boolean;
  /** Secret for the nonces of proofs. Absent if proofs need no nonce. */
  readonly nonceSecret: Uint8Array | undefined;
  readonly fetchDocument: (url: string | URL) => Promise<Response>;
  /** Renders the page for an error that cannot be sent to the client. */
  readonly renderError: (context: ErrorContext, out: JsonObject) => void;
  /** Renders a page of the device flow. */
  readonly renderDevicePage: (context: DeviceContext, page: DevicePage) => void;
  readonly errors: LibraryErrors;
  /** Exchanges identity assertions. Absent if the hub accepts the assertions of no provider. */
  readonly takeAssertion?: (request: AssertionRequest) => Promise<AssertedAccess>;
}

/** Error classes of the library `oidc-provider`. */
export interface LibraryErrors {
  /** Error for a resource that is not this hub. */
  readonly InvalidTarget: new () => Error;
  readonly InvalidGrant: new (detail: string) => Error;
  readonly CustomOIDCProviderError: new (code: string, description: string) => Error;
}

interface InContext {
  readonly oidc: {
    readonly result?: { readonly consent?: { readonly grantId?: string } };
    readonly provider: { readonly Grant: FindGrant };
  };
}
interface FindGrant {
  find(id: string): Promise<unknown>;
}

const MINUTE_S = 60;
const DAY_S = 24 * 60 * 60;

/** Paths of the authorization server, below the hub's base path. */
export const AUTH_ROUTES = {
  authorization: "/authorize",
  token: "/token",
  registration: "/register",
  revocation: "/revoke",
  introspection: "/introspect",
  jwks: "/jwks",
  userinfo: "/userinfo",
  device_authorization: "/device_authorization",
  code_verification: "/device",
} as const;
export const INTERACTION_PATH = "/interaction";

/** Creates the authorization server with the rules of OAuth 2.1 and of the MCP specification. */
export function createProvider(Class: ProviderClass, parts: ProviderParts): OidcProvider {
  const { issuer, options, keys, createAdapter, takeAssertion } = parts;
  const claimsOfTokens: ClaimsOfTokens = new WeakMap();
  const provider = new Class(issuer, {
    adapter: createAdapter,
    jwks: { keys: keys.jwks },
    cookies: cookiesOf(issuer, keys.cookies),
    clients: [consoleClient(issuer), ...options.machines.map((machine) => machineMetadata(machine, options))],
    clientDefaults: {
      id_token_signed_response_alg: "ES256",
      token_endpoint_auth_method: "none",
      dpop_bound_access_tokens: parts.requiresDpop,
    },
    enabledJWA: { dPoPSigningAlgValues: PROOF_ALGORITHMS },
    routes: AUTH_ROUTES,
    scopes: ["openid", "offline_access", ...options.scopes],
    claims: { openid: ["sub", "preferred_username"] },
    responseTypes: ["code"],
    pkce: { required: () => true },
    rotateRefreshToken: true,
    // The refresh token stays valid if the browser's session ends, or if the client signs in again in the same session.
    expiresWithSession: () => false,
    issueRefreshToken: async (_context: unknown, client: { grantTypeAllowed(type: string): boolean }) =>
      client.grantTypeAllowed("refresh_token"),
    findAccount: async (_context: unknown, sub: string) => accountOf(await parts.findUser(sub)),
    interactions: {
      url: (_context: unknown, { uid }: { readonly uid: string }) => `${pathOf(issuer)}${INTERACTION_PATH}/${uid}`,
    },
    // The user must consent each time. With a stored consent, another site could send the user to this address and get
    // access.
    loadExistingGrant: ({ oidc }: InContext) => {
      const grantId = oidc.result?.consent?.grantId;
      return grantId === undefined ? undefined : oidc.provider.Grant.find(grantId);
    },
    renderError: parts.renderError,
    clientBasedCORS: () => true,
    fetch: parts.fetchDocument,
    features: featuresOf(parts),
    ttl: lifetimesOf(options),
    extraTokenClaims: (_context: unknown, token: object) => claimsOfTokens.get(token),
    ...(takeAssertion && { discovery: { authorization_grant_profiles_supported: [ASSERTION_PROFILE] } }),
  });
  if (takeAssertion) addAssertionGrant(provider, { ...parts, takeAssertion, claimsOfTokens });
  return provider;
}

function machineMetadata({ id, secret, actsForItself }: MachineClient, { providers }: AuthServerOptions): object {
  const hasAssertions = providers.some(({ assertionClients }) => assertionClients.includes(id));
  return {
    client_id: id,
    client_secret: secret,
    token_endpoint_auth_method: "client_secret_basic",
    grant_types: [...(actsForItself ? ["client_credentials"] : []), ...(hasAssertions ? [ASSERTION_GRANT] : [])],
    response_types: [],
    redirect_uris: [],
  };
}

/** Claims of an identity assertion, which are stored with the access token, by token object. */
type ClaimsOfTokens = WeakMap<object, JsonObject>;

type AssertionParts = Pick<ProviderParts, "options" | "errors"> &
  Required<Pick<ProviderParts, "takeAssertion">> & { readonly claimsOfTokens: ClaimsOfTokens };

/**
 * Adds the grant type that exchanges identity assertions. It issues no refresh token: the client requests another
 * assertion, so that the provider decides each time.
 */
function addAssertionGrant(provider: OidcProvider, parts: AssertionParts): void {
  const { options, errors, takeAssertion, claimsOfTokens } = parts;
  const answer = async (context: GrantContext): Promise<void> => {
    const { client, params } = context.oidc;
    const request = { clientId: client.clientId, proof: context.get("dpop"), params };
    const { accountId, scope, resource, claims, boundKey } = await takeAssertion(request);
    const token = new provider.AccessToken({ accountId, client, gty: "jwt_bearer", scope });
    token.setAudience(resource);
    if (boundKey !== undefined) token.setThumbprint("jkt", boundKey);
    token.expiresIn = options.accessTokenMs / 1000;
    claimsOfTokens.set(token, claims);
    const value = await token.save();
    context.body = { access_token: value, token_type: token.tokenType, expires_in: token.expiresIn, scope };
  };
  const withErrors = (context: GrantContext): Promise<void> =>
    answer(context).catch((error: unknown) => {
      if (!(error instanceof AssertionError)) throw error;
      if (error.nonce !== undefined) context.set("dpop-nonce", error.nonce);
      throw libraryError(error, errors);
    });
  provider.registerGrantType(ASSERTION_GRANT, withErrors, ASSERTION_PARAMETERS);
}

/**
 * Converts an error to an error class of the library. Sets status 503 for a temporary error, because clients retry a
 * request only after a 5xx status and the library would send 400.
 */
function libraryError({ code, message }: AssertionError, { CustomOIDCProviderError: Class }: LibraryErrors): Error {
  const error = new Class(code, message);
  return code === "temporarily_unavailable" ? Object.assign(error, { status: 503, statusCode: 503 }) : error;
}

function proofsOf({ nonceSecret }: ProviderParts): object {
  if (!nonceSecret) return { enabled: true };
  const secret = createHmac("sha256", nonceSecret).update("nonces of the token endpoint").digest();
  return { enabled: true, nonceSecret: secret, requireNonce: () => true };
}

function featuresOf(parts: ProviderParts): object {
  const { options, isResource, issuer, renderDevicePage, errors } = parts;
  const { InvalidTarget } = errors;
  const scope = options.scopes.join(" ");
  return {
    devInteractions: { enabled: false },
    userinfo: { enabled: true },
    rpInitiatedLogout: { enabled: false },
    clientCredentials: { enabled: true },
    introspection: { enabled: false },
    revocation: {
      enabled: true,
      allowedPolicy: (_context: unknown, client: RegisteredOidcClient, token: { readonly clientId?: string }) =>
        token.clientId === client.clientId,
    },
    dPoP: proofsOf(parts),
    deviceFlow: deviceFlowOf(renderDevicePage),
    registration: { enabled: options.dynamicRegistration, issueRegistrationAccessToken: false },
    clientIdMetadataDocument: { enabled: true, ack: "draft-02" },
    resourceIndicators: {
      enabled: true,
      defaultResource: (_context: unknown, _client: unknown, oneOf?: unknown) => oneOf ?? `${issuer}/mcp`,
      useGrantedResource: () => true,
      getResourceServerInfo: (_context: unknown, resource: string) => {
        if (!isResource(resource)) throw new InvalidTarget();
        return { scope, audience: resource, accessTokenFormat: "opaque", accessTokenTTL: options.accessTokenMs / 1000 };
      },
    },
  };
}

function lifetimesOf({ accessTokenMs, refreshTokenMs, sessionMs }: AuthServerOptions): object {
  return {
    AccessToken: accessTokenMs / 1000,
    ClientCredentials: accessTokenMs / 1000,
    AuthorizationCode: MINUTE_S,
    DeviceCode: 10 * MINUTE_S,
    Interaction: 30 * MINUTE_S,
    RefreshToken: refreshTokenMs / 1000,
    Grant: refreshTokenMs / 1000 + DAY_S,
    Session: sessionMs / 1000,
    IdToken: 10 * MINUTE_S,
  };
}

function cookiesOf(issuer: string, keys: readonly string[]): object {
  const common = { httpOnly: true, sameSite: "lax", signed: true, secure: issuer.startsWith("https:") };
  return {
    keys,
    names: { session: "_toolyard_session", interaction: "_toolyard_interaction", resume: "_toolyard_resume" },
    long: { ...common, path: pathOf(issuer) || "/" },
    short: common,
  };
}

function pathOf(issuer: string): string {
  return new URL(issuer).pathname.replace(/\/$/, "");
}

function accountOf(user: User | undefined): object | undefined {
  if (!user) return undefined;
  return { accountId: user.sub, claims: () => ({ sub: user.sub, preferred_username: user.name }) };
}
