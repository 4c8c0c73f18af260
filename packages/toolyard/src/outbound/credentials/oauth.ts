import { OptionError } from "../../core/errors.ts";
import { isLoopback } from "../../core/uris/loopback.ts";
import { readOptions } from "../../core/options/option-values.ts";
import { present } from "../../core/json/present.ts";
import { knownServer } from "./known-servers.ts";
import { AuthSchema, type CredentialConfig } from "./options.ts";

/** Configured part of a user's sign-in to a source; the rest comes from the server's metadata. */
export interface OAuthOptions {
  readonly grant: "authorization_code" | "client_credentials" | "jwt_bearer" | "token_exchange" | "enterprise";
  /**
   * Issuer identifier, which is compared with the one that the authorization server reports. @default the address of
   * the server
   */
  readonly issuer?: string;
  readonly clientId?: string;
  readonly clientSecret?: string;
  readonly clientAuth?: "basic" | "post" | "private_key_jwt";
  /** Private key with which the client authenticates, in PEM format. */
  readonly privateKey?: string;
  /** Way in which the hub registers at the authorization server if there is no `clientId`. */
  readonly registration: "auto" | "document" | "dynamic";
  readonly clientMetadataUrl?: string;
  /** Requested scopes, separated by spaces. Absent: the scopes that the server requests. */
  readonly scopes?: string;
  readonly resource?: string;
  readonly redirectHost: "127.0.0.1" | "localhost";
  /** Port for the redirect. Absent: a free port is chosen once and then kept. */
  readonly redirectPort?: number;
  readonly dpop: boolean;
  /**
   * Assertion that is exchanged for an access token, with the grants `jwt_bearer`, `token_exchange` and `enterprise`.
   */
  readonly assertion?: string;
  /** Type of the assertion, with `token_exchange`. */
  readonly subjectTokenType: "access_token" | "id_token" | "jwt" | "refresh_token";
  readonly audience?: string;
  /** Page on which a user registers an application, if known. */
  readonly registerAt?: string;
  readonly identityProvider?: { readonly tokenUrl: string; readonly clientId?: string; readonly clientSecret?: string };
}

/**
 * Returns the configured values; undefined if `auth` has another type. Throws an `OptionError` that contains no secret.
 */
export function resolveOAuth(auth: CredentialConfig["auth"]): Partial<OAuthOptions> | undefined {
  if (auth?.type !== "oauth") return undefined;
  const values = readOptions(AuthSchema, auth, "auth.");
  assertGrant(auth, values.grant);
  const given = present({
    grant: auth.grant,
    registration: auth.registration,
    redirectHost: auth.redirect_host,
    dpop: auth.dpop,
    issuer: values.issuer === undefined ? undefined : httpsUrl("issuer", values.issuer),
    clientId: values.client_id,
    clientSecret: values.client_secret,
    clientAuth: auth.client_auth,
    privateKey: values.private_key,
    clientMetadataUrl: values.client_metadata_url === undefined ? undefined : documentUrl(values.client_metadata_url),
    scopes: auth.scopes?.join(" "),
    resource: values.resource,
    redirectPort: values.redirect_port,
    assertion: values.assertion,
    subjectTokenType: auth.subject_token_type,
    audience: values.audience,
    identityProvider: identityProviderOf(auth),
  });
  return Object.freeze(given);
}

/** Merges the settings of a source, the known facts of its server, and the defaults, in this order of precedence. */
export function completeOAuth(url: URL, given: Partial<OAuthOptions> = {}): OAuthOptions {
  const {
    grant,
    registration,
    redirect_host: redirectHost,
    dpop,
    subject_token_type: subjectTokenType,
  } = readOptions(AuthSchema, { type: "oauth" }, "auth.");
  return Object.freeze({ grant, registration, redirectHost, dpop, subjectTokenType, ...knownServer(url), ...given });
}

type Auth = NonNullable<CredentialConfig["auth"]>;

const NEEDED: Readonly<Record<OAuthOptions["grant"], readonly (keyof Auth)[]>> = {
  authorization_code: [],
  client_credentials: ["client_id"],
  jwt_bearer: ["assertion"],
  token_exchange: ["assertion"],
  enterprise: ["client_id", "assertion", "idp_token_url"],
};

function assertGrant(auth: Auth, grant: OAuthOptions["grant"]): void {
  const missing = NEEDED[grant].find((name) => auth[name] === undefined || auth[name] === "");
  if (missing !== undefined)
    throw new OptionError(`\`auth\` of type "oauth" with \`grant = "${grant}"\` needs \`${missing}\`.`);
  if (auth.client_auth === "private_key_jwt" && auth.private_key === undefined)
    throw new OptionError('`auth.client_auth = "private_key_jwt"` needs `private_key`.');
}

function identityProviderOf(auth: Auth): OAuthOptions["identityProvider"] {
  const { idp_token_url: tokenUrl, idp_client_id: clientId, idp_client_secret: clientSecret } = auth;
  if (tokenUrl === undefined) return undefined;
  return {
    tokenUrl: httpsUrl("idp_token_url", tokenUrl),
    ...(clientId !== undefined && { clientId }),
    ...(clientSecret !== undefined && { clientSecret }),
  };
}

/**
 * Checks a URL and returns its text unchanged. It is not normalised, because issuers are compared character by
 * character.
 */
function httpsUrl(name: string, text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol === "https:" || (url?.protocol === "http:" && isLoopback(url.hostname))) return text;
  throw new OptionError(
    `\`auth.${name}\` must begin with https://, or with http:// on this machine; got ${JSON.stringify(text)}.`,
  );
}

function documentUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol === "https:" && url.pathname !== "/" && url.hash === "") return text;
  throw new OptionError(
    "`auth.client_metadata_url` must be an https address with a path, such as " +
      `https://hub.example.com/oauth/client.json; got ${JSON.stringify(text)}.`,
  );
}
