import type { IncomingMessage, ServerResponse } from "node:http";
import type { JsonObject } from "../../core/json/json.ts";
import type { ModelAdapter } from "./adapter.ts";
import { consoleClient } from "./console-client.ts";
import type { AuthServerOptions } from "./options.ts";
import type { User } from "./users.ts";

/** The part of the library's server that the hub uses. */
export interface OidcProvider {
  callback(): (request: IncomingMessage, response: ServerResponse) => Promise<void>;
  interactionDetails(request: IncomingMessage, response: ServerResponse): Promise<Interaction>;
  interactionResult(request: IncomingMessage, response: ServerResponse, result: JsonObject): Promise<string>;
  readonly Grant: GrantClass;
  readonly Client: { find(id: string): Promise<RegisteredOidcClient | undefined> };
}

/** Sign-in that waits for the user. */
export interface Interaction {
  readonly jti: string;
  readonly prompt: { readonly name: string; readonly details: JsonObject };
  readonly params: Readonly<Record<string, string | undefined>>;
  readonly session?: { readonly accountId?: string };
}

export interface RegisteredOidcClient {
  readonly clientId: string;
  readonly clientName?: string;
}

export interface Grant {
  addOIDCScope(scope: string): void;
  addResourceScope(resource: string, scope: string): void;
  save(): Promise<string>;
}

export type GrantClass = new (facts: { readonly accountId: string; readonly clientId: string }) => Grant;
export type ProviderClass = new (issuer: string, configuration: object) => OidcProvider;

export interface ProviderParts {
  readonly issuer: string;
  readonly options: AuthServerOptions;
  readonly keys: { readonly jwks: readonly object[]; readonly cookies: readonly string[] };
  readonly createAdapter: (model: string) => ModelAdapter;
  readonly findUser: (sub: string) => User | undefined;
  readonly isResource: (resource: string) => boolean;
  readonly fetchDocument: (url: string | URL) => Promise<Response>;
  /** Renders the page for an error that cannot be sent to the client. */
  readonly renderError: (context: ErrorContext, out: JsonObject) => void;
  /** Error class of the library for a resource that is not this hub. */
  readonly invalidTarget: new () => Error;
}

export interface ErrorContext {
  body: unknown;
  type: string;
  readonly headers: Readonly<Record<string, string | undefined>>;
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
} as const;
export const INTERACTION_PATH = "/interaction";

/** Creates the authorization server with the rules of OAuth 2.1 and of the MCP specification. */
export function createProvider(Class: ProviderClass, parts: ProviderParts): OidcProvider {
  const { issuer, options, keys, createAdapter } = parts;
  return new Class(issuer, {
    adapter: createAdapter,
    jwks: { keys: keys.jwks },
    cookies: cookiesOf(issuer, keys.cookies),
    clients: [consoleClient(issuer), ...options.machines.map(machineClient)],
    clientDefaults: { id_token_signed_response_alg: "ES256", token_endpoint_auth_method: "none" },
    routes: AUTH_ROUTES,
    scopes: ["openid", "offline_access", ...options.scopes],
    claims: { openid: ["sub", "preferred_username"] },
    responseTypes: ["code"],
    pkce: { required: () => true },
    rotateRefreshToken: true,
    issueRefreshToken: async (_context: unknown, client: { grantTypeAllowed(type: string): boolean }) =>
      client.grantTypeAllowed("refresh_token"),
    findAccount: (_context: unknown, sub: string) => accountOf(parts.findUser(sub)),
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
  });
}

function machineClient({ id, secret }: AuthServerOptions["machines"][number]): object {
  return {
    client_id: id,
    client_secret: secret,
    token_endpoint_auth_method: "client_secret_basic",
    grant_types: ["client_credentials"],
    response_types: [],
    redirect_uris: [],
  };
}

function featuresOf({ options, isResource, issuer, invalidTarget: InvalidTarget }: ProviderParts): object {
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
