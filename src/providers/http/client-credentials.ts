import { OptionError } from "../../core/errors.ts";
import { Type } from "../../core/option-schema.ts";
import { isLoopback } from "../../core/loopback.ts";
import type { ClientCredentials } from "../../upstream/http/token-source.ts";
import type { RemoteServerConfig } from "./options.ts";

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

/** Undefined where `auth` is of another type. Throws an `OptionError` that shows no secret. */
export function resolveClientCredentials(auth: RemoteServerConfig["auth"]): ClientCredentials | undefined {
  if (auth?.type !== "client_credentials") return undefined;
  const { scope, resource, client_auth: clientAuth = "basic" } = auth;
  if (clientAuth !== "basic" && clientAuth !== "post")
    throw new OptionError(`\`auth.client_auth\` must be "basic" or "post", got ${JSON.stringify(clientAuth)}.`);
  return Object.freeze({
    tokenUrl: checkedTokenUrl(needed(auth, "token_url")),
    clientId: needed(auth, "client_id"),
    clientSecret: needed(auth, "client_secret"),
    ...(scope !== undefined && scope !== "" && { scope }),
    ...(resource !== undefined && { resource: checkedResource(resource) }),
    clientAuth,
  });
}

function needed(
  auth: NonNullable<RemoteServerConfig["auth"]>,
  name: "token_url" | "client_id" | "client_secret",
): string {
  const value = auth[name];
  if (typeof value === "string" && value !== "") return value;
  throw new OptionError(`\`auth\` of type "client_credentials" needs \`${name}\`.`);
}

// Its query may hold a key, so messages do not repeat it.
function checkedTokenUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !/^https?:$/.test(url.protocol))
    throw new OptionError("`auth.token_url` is no address. It must look like https://auth.example.com/oauth/token.");
  if (url.protocol === "http:" && !isLoopback(url.hostname)) {
    throw new OptionError(
      `\`auth.token_url\` must begin with https://: the client's secret goes to ${url.host}, which is not ` +
        "this machine.",
    );
  }
  if (url.username !== "" || url.password !== "")
    throw new OptionError(
      "`auth.token_url` holds a user name or a password. Put them into `client_id` and `client_secret`.",
    );
  url.hash = "";
  return url.href;
}

function checkedResource(text: string): string {
  if (URL.canParse(text) && !text.includes("#")) return text;
  throw new OptionError(
    "`auth.resource` must be an absolute URI without a fragment, such as https://mcp.example.com/mcp, got " +
      `${JSON.stringify(text)}.`,
  );
}
