import { Type, type ObjectOf } from "../../core/option-schema.ts";

/** Members of `auth` of type `client_credentials`. */
export const CLIENT_CREDENTIALS_MEMBERS = {
  token_url: Type.Optional(
    Type.String({
      description: "With `client_credentials`: the token endpoint; `https`, or `http` on this machine.",
      examples: ["https://auth.example.com/oauth/token"],
    }),
  ),
  client_id: Type.Optional(Type.String({ description: "With `client_credentials`." })),
  client_secret: Type.Optional(Type.Secret({ description: "With `client_credentials`. It goes to `token_url` only." })),
  scope: Type.Optional(
    Type.String({
      description:
        "With `client_credentials`: the scopes to ask for, with spaces between them. " +
        "Absent: the endpoint's own choice.",
    }),
  ),
  resource: Type.Optional(
    Type.String({
      description: "With `client_credentials`: what the token is for (RFC 8707), as a URI. Absent: it is not sent.",
      examples: ["https://mcp.example.com/mcp"],
    }),
  ),
  client_auth: Type.Optional(
    Type.Enum(["basic", "post"], {
      description: "With `client_credentials`: id and secret go to the endpoint as HTTP Basic, or in the form.",
      default: "basic",
    }),
  ),
} as const;

/** `auth`, whatever its type; each type takes some of these. */
export const AuthSchema = Type.Object(
  {
    type: Type.Enum(["bearer", "api_key", "client_credentials"], {
      description:
        "`bearer`: `token` goes into `Authorization`. `api_key`: `key` goes into `header`. " +
        "`client_credentials`: an access token is fetched from `token_url` (OAuth 2).",
    }),
    token: Type.Optional(Type.Secret({ description: "With `bearer`." })),
    key: Type.Optional(Type.Secret({ description: "With `api_key`." })),
    header: Type.Optional(
      Type.String({ description: "With `api_key`: the header that carries the key.", default: "X-API-Key" }),
    ),
    ...CLIENT_CREDENTIALS_MEMBERS,
  },
  {
    description: "Credentials in long form; `token` is the short one.",
    examples: [{ type: "api_key", key: "${WEATHER_KEY}" }],
  },
);

/** Options of whatever is asked with credentials of its own. */
export const CREDENTIAL_MEMBERS = {
  token: Type.Optional(Type.Secret({ description: "Sent as `Authorization: Bearer …`." })),
  auth: Type.Optional(AuthSchema),
  headers: Type.Optional(
    Type.Record(Type.Secret(), { description: "Further headers of every request to this server.", default: {} }),
  ),
} as const;

export type CredentialConfig = ObjectOf<typeof CREDENTIAL_MEMBERS>;
