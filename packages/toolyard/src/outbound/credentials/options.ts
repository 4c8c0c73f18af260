import { Type, type ObjectOf } from "../../core/options/option-schema.ts";

/** Members of `auth` of type `client_credentials`. */
export const CLIENT_CREDENTIALS_MEMBERS = {
  token_url: Type.Optional(
    Type.String({
      description: "With `client_credentials`: the token endpoint; `https`, or `http` on this machine.",
      examples: ["https://auth.example.com/oauth/token"],
    }),
  ),
  client_id: Type.Optional(Type.String({ description: "With `client_credentials` and `oauth`." })),
  client_secret: Type.Optional(
    Type.Secret({
      description: "With `client_credentials` and `oauth`: client secret; it is sent only to the token endpoint.",
    }),
  ),
  scope: Type.Optional(
    Type.String({
      description: "With `client_credentials`: scopes to request, separated by spaces. Absent: the endpoint chooses.",
    }),
  ),
  resource: Type.Optional(
    Type.String({
      description:
        "With `client_credentials` and `oauth`: URI of the resource that the token is for (RFC 8707). " +
        "Absent: not sent; with `oauth`, the value in the server's metadata.",
      examples: ["https://mcp.example.com/mcp"],
    }),
  ),
  client_auth: Type.Optional(
    Type.Enum(["basic", "post", "private_key_jwt"], {
      description:
        "With `client_credentials` and `oauth`: id and secret go to the endpoint as HTTP Basic, or in the " +
        "form. `private_key_jwt`, only with `oauth`: the client signs with `private_key`.",
      default: "basic",
    }),
  ),
} as const;

/** Members of `auth` of type `oauth` that no other type has. */
const OAUTH_MEMBERS = {
  grant: Type.Optional(
    Type.Enum(["authorization_code", "client_credentials", "jwt_bearer", "token_exchange", "enterprise"], {
      description:
        "With `oauth`: how a token is acquired. `authorization_code`: a user signs in (`toolyard login`). " +
        "`client_credentials`: the hub itself, by secret or key. `jwt_bearer`: by an `assertion` of the " +
        "workload. `token_exchange`: by a token (`assertion`) that the server's issuer exchanges (RFC " +
        "8693). `enterprise`: by an identity token (`assertion`), exchanged at the company's identity " +
        "provider.",
      default: "authorization_code",
    }),
  ),
  issuer: Type.Optional(
    Type.String({
      description:
        "With `oauth`: the issuer identifier, exactly as the authorization server states it, if it differs from " +
        "the address or the server names several. The hub compares it instead of the address.",
      examples: ["https://auth.example.com"],
    }),
  ),
  registration: Type.Optional(
    Type.Enum(["auto", "document", "dynamic"], {
      description:
        "With `oauth`, without `client_id`: how the hub registers. `document`: with `client_metadata_url`. " +
        "`dynamic`: dynamic client registration. `auto`: the first that the authorization server supports.",
      default: "auto",
    }),
  ),
  private_key: Type.Optional(
    Type.Secret({ description: 'With `oauth` and `client_auth = "private_key_jwt"`: the client\'s key in PEM.' }),
  ),
  scopes: Type.Optional(
    Type.Array(Type.String(), {
      description: "With `oauth`: scopes to request. Absent: those that the server names.",
    }),
  ),
  redirect_host: Type.Optional(
    Type.Enum(["127.0.0.1", "localhost"], {
      description: "With `oauth`: host of the address on this machine to which the browser returns.",
      default: "127.0.0.1",
    }),
  ),
  redirect_port: Type.Optional(
    Type.Integer({
      description: "With `oauth`: port of that address, if one is registered. Absent: a free port, kept from then on.",
      minimum: 1,
      maximum: 65535,
    }),
  ),
  client_metadata_url: Type.Optional(
    Type.String({
      description: "With `oauth`: https address of the client metadata document; it is the client id.",
      examples: ["https://hub.example.com/oauth/client.json"],
    }),
  ),
  dpop: Type.Optional(
    Type.Boolean({
      description: "With `oauth`: if true, tokens are bound to a key of the hub (DPoP), if the server supports that.",
      default: false,
    }),
  ),
  assertion: Type.Optional(
    Type.Secret({
      description:
        "With `oauth` and `jwt_bearer`, `token_exchange` or `enterprise`: the token that authenticates the hub " +
        "or the workload.",
    }),
  ),
  subject_token_type: Type.Optional(
    Type.Enum(["access_token", "id_token", "jwt", "refresh_token"], {
      description: "With `oauth` and `token_exchange`: type of `assertion`.",
      default: "access_token",
    }),
  ),
  audience: Type.Optional(
    Type.String({
      description: "With `oauth` and `token_exchange`: recipient (audience) of the token, as the issuer names it.",
    }),
  ),
  idp_token_url: Type.Optional(
    Type.String({ description: "With `oauth` and `enterprise`: token endpoint of the identity provider." }),
  ),
  idp_client_id: Type.Optional(
    Type.String({ description: "With `oauth` and `enterprise`: client id at the identity provider." }),
  ),
  idp_client_secret: Type.Optional(
    Type.Secret({ description: "With `oauth` and `enterprise`: client secret; it is sent only to `idp_token_url`." }),
  ),
} as const;

/** Members of `auth` of type `oauth`. */
export const OAUTH_NAMES: readonly string[] = [
  ...Object.keys(OAUTH_MEMBERS),
  "client_id",
  "client_secret",
  "client_auth",
  "resource",
];

/** `auth` of any type; each type allows some of these members. */
export const AuthSchema = Type.Object(
  {
    type: Type.Enum(["bearer", "api_key", "client_credentials", "oauth"], {
      description:
        "`bearer`: `token` goes into `Authorization`. `api_key`: `key` goes into `header`. " +
        "`client_credentials`: an access token is fetched from `token_url` (OAuth 2). `oauth`: sets parts " +
        "of a sign-in that are otherwise discovered. Users can sign in to a server without configured " +
        "credentials if it requires that.",
    }),
    token: Type.Optional(Type.Secret({ description: "With `bearer`." })),
    key: Type.Optional(Type.Secret({ description: "With `api_key`." })),
    header: Type.Optional(
      Type.String({ description: "With `api_key`: the header that carries the key.", default: "X-API-Key" }),
    ),
    ...CLIENT_CREDENTIALS_MEMBERS,
    ...OAUTH_MEMBERS,
  },
  {
    description: "Credentials in long form; `token` is the short form.",
    examples: [{ type: "api_key", key: "${WEATHER_KEY}" }],
  },
);

/** Options of every source with credentials. */
export const CREDENTIAL_MEMBERS = {
  token: Type.Optional(Type.Secret({ description: "Sent as `Authorization: Bearer …`." })),
  auth: Type.Optional(AuthSchema),
  headers: Type.Optional(
    Type.Record(Type.Secret(), { description: "Further headers of every request to this server.", default: {} }),
  ),
} as const;

export type CredentialConfig = ObjectOf<typeof CREDENTIAL_MEMBERS>;
