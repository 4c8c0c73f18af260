import { BuiltinSchema, resolveBuiltin, type AuthServerOptions } from "./builtin/options.ts";
import { OptionError } from "../core/errors.ts";
import { Type, type Static } from "../core/options/option-schema.ts";
import { ABOVE_ZERO, readOptions } from "../core/options/option-values.ts";
import { durationOption } from "../core/text/duration.ts";
import { isLoopbackHost } from "../core/uris/loopback.ts";

/**
 * Signature algorithms that access tokens, ID tokens and identity assertions may use. Symmetric algorithms are omitted,
 * because they need a shared secret.
 */
export const JWT_ALGORITHMS = [
  "RS256",
  "RS384",
  "RS512",
  "PS256",
  "PS384",
  "PS512",
  "ES256",
  "ES384",
  "ES512",
  "EdDSA",
] as const;

export const AUTH_MODES = ["tokens", "issuer", "builtin"] as const;
/** Setting of the hub's own sign-in, for messages. */
export const OWN_SIGN_IN = '`auth.modes` with "builtin"';
export type AuthMode = (typeof AUTH_MODES)[number];

const IssuerSchema = Type.Object(
  {
    url: Type.String({
      description: "Issuer identifier, exactly as the provider writes it in `iss`.",
      minLength: 1,
      examples: ["https://login.example.com/realms/team"],
    }),
    verify: Type.Optional(
      Type.Enum(["jwt", "introspection"], {
        description:
          "How an access token is checked: `jwt` by its signature (RFC 9068), `introspection` by a request to the " +
          "provider (RFC 7662), with its answer cached for at most 60 s.",
        default: "jwt",
      }),
    ),
    jwks_uri: Type.Optional(
      Type.String({ description: "Address of the provider's keys. Absent: from the provider's metadata." }),
    ),
    introspection_endpoint: Type.Optional(
      Type.String({ description: "Address for introspection. Absent: from the provider's metadata." }),
    ),
    client_id: Type.Optional(Type.String({ description: "Client id of the hub, for introspection." })),
    client_secret: Type.Optional(Type.Secret({ description: "Client secret of the hub, for introspection." })),
    algorithms: Type.Optional(
      Type.Array(Type.Enum(JWT_ALGORITHMS), {
        description: "Signature algorithms that are accepted.",
        default: ["RS256", "PS256", "ES256", "ES384", "EdDSA"],
        minItems: 1,
      }),
    ),
    token_types: Type.Optional(
      Type.Array(Type.Enum(["at+jwt", "JWT"]), {
        description:
          "`typ` headers that are accepted. Keycloak and Entra ID need `JWT`; tokens with claims of an ID " +
          "token are then refused.",
        default: ["at+jwt"],
        minItems: 1,
      }),
    ),
    name_claim: Type.Optional(
      Type.String({ description: "Claim with the user's name for logs and roles.", default: "preferred_username" }),
    ),
    groups_claim: Type.Optional(
      Type.String({
        description: "Claim with the user's groups; a dotted path such as `realm_access.roles` works.",
        default: "groups",
      }),
    ),
  },
  { description: "The identity provider of the mode `issuer`." },
);

export const AuthSchema = Type.Object(
  {
    modes: Type.Optional(
      Type.Array(Type.Enum(AUTH_MODES), {
        description:
          "How callers over HTTP authenticate; one of several is enough. `tokens`: `server.token` and " +
          "`server.tokens`. `issuer`: access tokens of an identity provider. `builtin`: access tokens of an " +
          "authorization server inside of the hub, with its own users.",
        default: ["tokens"],
        minItems: 1,
      }),
    ),
    audience: Type.Optional(
      Type.Array(Type.String({ minLength: 1 }), {
        description:
          "Further values of `aud` that mean this hub. Its own address and those of its endpoints are always accepted.",
        default: [],
        examples: [["api://toolyard"]],
      }),
    ),
    scopes: Type.Optional(
      Type.Array(Type.String({ pattern: "^[\\x21\\x23-\\x5b\\x5d-\\x7e]+$" }), {
        description: "Scopes that every access token needs. Challenges and metadata name them.",
        default: [],
      }),
    ),
    require_dpop: Type.Optional(
      Type.Boolean({
        description:
          "Refuses access tokens that are not bound to a key of their client (DPoP, RFC 9449). Tokens of `[server]` " +
          "are no access tokens, and stay valid. Most clients cannot send proofs of a key.",
        default: false,
      }),
    ),
    dpop_nonce: Type.Optional(
      Type.Boolean({
        description:
          "Requires a nonce of the hub in each proof of a key, which is valid for at most 4 minutes. Clients then " +
          "cannot create proofs in advance, and need one further request whenever the nonce changes.",
        default: false,
      }),
    ),
    clock_skew: Type.Optional(
      durationOption(
        { description: "Tolerated difference between the clocks of the hub and the provider.", default: "30s" },
        { least: 0, most: 300_000, must: "must be from 0 to 5 minutes" },
      ),
    ),
    timeout: Type.Optional(
      durationOption({ description: "Time limit of one request to the provider.", default: "10s" }, ABOVE_ZERO),
    ),
    issuer: Type.Optional(IssuerSchema),
    builtin: Type.Optional(BuiltinSchema),
  },
  { description: "How callers over HTTP authenticate." },
);
export type HubAuthConfig = Static<typeof AuthSchema>;

export interface IssuerOptions {
  readonly url: string;
  readonly verify: "jwt" | "introspection";
  readonly jwksUri?: string;
  readonly introspectionEndpoint?: string;
  readonly clientId?: string;
  readonly clientSecret?: string;
  readonly algorithms: readonly string[];
  readonly tokenTypes: readonly string[];
  readonly nameClaim: string;
  readonly groupsClaim: string;
  readonly timeoutMs: number;
}

export interface AuthOptions {
  readonly modes: readonly AuthMode[];
  readonly audience: readonly string[];
  readonly scopes: readonly string[];
  /** Scopes that clients may request. @default `scopes` */
  readonly requestable?: readonly string[];
  /** True if access tokens must be bound to a key (RFC 9449). */
  readonly requiresDpop: boolean;
  /** True if proofs of a key must contain a nonce of the hub. */
  readonly usesNonces: boolean;
  readonly clockSkewMs: number;
  /** Present if the mode is `issuer`. */
  readonly issuer?: IssuerOptions;
  /** Present if the mode is `builtin`. */
  readonly builtin?: AuthServerOptions;
}

/** Applies the defaults. Throws an `OptionError` for a combination that admits no caller or omits a required check. */
export function resolveAuth(raw: HubAuthConfig = {}): AuthOptions {
  const options = readOptions(AuthSchema, raw, "auth.");
  const { modes, audience, scopes, clock_skew: clockSkewMs, timeout, issuer } = options;
  if (modes.includes("issuer") && !issuer)
    throw new OptionError('`auth.modes` has "issuer", but there is no `[auth.issuer]` with the provider\'s `url`.');
  return Object.freeze({
    modes,
    audience,
    scopes: [...new Set(scopes)],
    requiresDpop: options.require_dpop,
    usesNonces: options.dpop_nonce,
    clockSkewMs,
    ...(issuer && modes.includes("issuer") && { issuer: resolveIssuer(issuer, timeout) }),
    ...(modes.includes("builtin") && { builtin: resolveBuiltin(options.builtin, scopes) }),
  });
}

/** Returns true if users can sign in at the hub itself. */
export function hasOwnSignIn(raw: HubAuthConfig | undefined): boolean {
  return raw?.modes?.includes("builtin") === true;
}

function resolveIssuer(raw: Static<typeof IssuerSchema>, timeoutMs: number): IssuerOptions {
  const given = readOptions(IssuerSchema, raw, "auth.issuer.");
  assertSecure("url", given.url);
  if (given.jwks_uri !== undefined) assertSecure("jwks_uri", given.jwks_uri);
  if (given.introspection_endpoint !== undefined) assertSecure("introspection_endpoint", given.introspection_endpoint);
  if (given.verify === "introspection" && (given.client_id === undefined || given.client_secret === undefined))
    throw new OptionError(
      '`auth.issuer.verify = "introspection"` needs `client_id` and `client_secret`: the provider answers known ' +
        "clients only.",
    );
  return Object.freeze({
    url: given.url,
    verify: given.verify,
    ...(given.jwks_uri !== undefined && { jwksUri: given.jwks_uri }),
    ...(given.introspection_endpoint !== undefined && { introspectionEndpoint: given.introspection_endpoint }),
    ...(given.client_id !== undefined && { clientId: given.client_id }),
    ...(given.client_secret !== undefined && { clientSecret: given.client_secret }),
    algorithms: given.algorithms,
    tokenTypes: given.token_types.map((type) => type.toLowerCase()),
    nameClaim: given.name_claim,
    groupsClaim: given.groups_claim,
    timeoutMs,
  });
}

function assertSecure(name: string, text: string): void {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isSecure = url?.protocol === "https:" || (url?.protocol === "http:" && isLoopbackHost(url.hostname));
  if (isSecure && url.username === "" && url.password === "" && url.hash === "") return;
  throw new OptionError(
    `\`auth.issuer.${name}\` must be an address that begins with https:// (or with http:// on this machine) and ` +
      `holds no password, got ${JSON.stringify(text)}.`,
  );
}
