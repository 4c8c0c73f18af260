import { OptionError } from "../../core/errors.ts";
import { readOptions } from "../../core/options/option-values.ts";
import { isLoopback } from "../../core/uris/loopback.ts";
import { AuthSchema, type CredentialConfig } from "./options.ts";
import type { ClientCredentials } from "./token-source.ts";

/**
 * Returns the client credentials; undefined if `auth` has another type. Throws an `OptionError` that shows no secret.
 */
export function resolveClientCredentials(auth: CredentialConfig["auth"]): ClientCredentials | undefined {
  if (auth?.type !== "client_credentials") return undefined;
  const { scope, resource, client_auth: clientAuth } = readOptions(AuthSchema, auth, "auth.");
  if (clientAuth === "private_key_jwt")
    throw new OptionError('`auth.client_auth = "private_key_jwt"` goes with `type = "oauth"` alone.');
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
  auth: NonNullable<CredentialConfig["auth"]>,
  name: "token_url" | "client_id" | "client_secret",
): string {
  const value = auth[name];
  if (typeof value === "string" && value !== "") return value;
  throw new OptionError(`\`auth\` of type "client_credentials" needs \`${name}\`.`);
}

// The query may hold a key, so messages do not repeat the URL.
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
