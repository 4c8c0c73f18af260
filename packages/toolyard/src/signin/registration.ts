import { isLoopback } from "../core/uris/loopback.ts";
import { loginCommand } from "../core/text/login-command.ts";
import { stringMember } from "../core/json/json.ts";
import type { OAuthOptions } from "../outbound/credentials/oauth.ts";
import { ownDocument } from "./coordinator-place.ts";
import { errorCode, needsPerson, notNow } from "./failures.ts";
import { objectIn, type SignInNetwork } from "./network.ts";
import type { ClientAuthMethod, ClientRecord, ServerRecord } from "./records.ts";

export interface RegistrationOptions {
  readonly options: OAuthOptions;
  readonly server: ServerRecord;
  readonly network: SignInNetwork;
  /** Address to which the browser returns. */
  readonly redirectUri: string;
  /** Earlier clients of this source; the first valid one is used. */
  readonly known: readonly (ClientRecord | undefined)[];
}

/**
 * Returns the hub's client at this authorization server: configured, from an earlier sign-in, by its own document, or
 * newly registered. Rejects with a `FailError` that names what the user must register.
 */
export async function clientFor(registering: RegistrationOptions): Promise<ClientRecord> {
  const { options, server, known, redirectUri } = registering;
  if (options.clientId !== undefined) return givenClient(options, server);
  const document = options.clientMetadataUrl ?? ownDocument(redirectUri);
  if (options.registration !== "dynamic" && document !== undefined) {
    if (server.client_id_metadata_document_supported || options.registration === "document")
      return { issuer: server.issuer, id: document, method: "none", from: "document", redirectUri };
  }
  const good = known.find((one) => one !== undefined && isStillGood(one, registering));
  if (good) return good;
  if (options.registration !== "document" && server.registration_endpoint !== undefined)
    return register(registering, server.registration_endpoint);
  throw needsPerson(
    registering.network.label,
    `cannot be signed in to yet: ${server.issuer} has no dynamic registration. Register an application ` +
      `${options.registerAt === undefined ? "there" : `at ${options.registerAt}`} with the ` +
      `redirect address ${redirectUri}, write its id into \`auth\`: { type = "oauth", client_id = "…", ` +
      `client_secret = "…", redirect_port = ${new URL(redirectUri).port} }, and run ` +
      `\`${loginCommand(registering.network.label)}\` again.`,
  );
}

export function givenClient(
  { clientId, clientSecret, clientAuth, privateKey }: OAuthOptions,
  server: ServerRecord,
): ClientRecord {
  const hasSecret = clientSecret !== undefined && clientSecret !== "";
  return {
    issuer: server.issuer,
    id: clientId ?? "",
    ...(hasSecret && { secret: clientSecret }),
    method: methodOf(clientAuth, { hasSecret, hasKey: privateKey !== undefined, server }),
    from: "given",
  };
}

function methodOf(
  wanted: OAuthOptions["clientAuth"],
  { hasSecret, hasKey, server }: { hasSecret: boolean; hasKey: boolean; server: ServerRecord },
): ClientAuthMethod {
  if (wanted === "private_key_jwt" || (wanted === undefined && hasKey)) return "private_key_jwt";
  if (!hasSecret) return "none";
  if (wanted !== undefined) return wanted === "basic" ? "client_secret_basic" : "client_secret_post";
  return secretMethod(server);
}

/**
 * Returns the method of authentication with a secret. Basic is the default if the server declares none (RFC 8414, 2).
 */
function secretMethod({ token_endpoint_auth_methods_supported: methods }: ServerRecord): ClientAuthMethod {
  const isPostOnly = methods?.includes("client_secret_post") === true && !methods.includes("client_secret_basic");
  return isPostOnly ? "client_secret_post" : "client_secret_basic";
}

function isStillGood(known: ClientRecord, { server, redirectUri }: RegistrationOptions): boolean {
  const { issuer, from, secretExpiresAt } = known;
  const isAlive = secretExpiresAt === undefined || secretExpiresAt * 1000 > Date.now() + SOON_MS;
  return issuer === server.issuer && from === "registered" && known.redirectUri === redirectUri && isAlive;
}

const SOON_MS = 60_000;

/** Returns the hub's registration data. */
function registrationOf(server: ServerRecord, redirectUri: string): object {
  const methods = server.token_endpoint_auth_methods_supported;
  const isOwnMachine = isLoopback(new URL(redirectUri).hostname);
  return {
    client_name: "Toolyard",
    redirect_uris: [redirectUri],
    grant_types: [
      "authorization_code",
      "refresh_token",
      ...(server.device_authorization_endpoint === undefined ? [] : [DEVICE_GRANT]),
    ],
    response_types: ["code"],
    token_endpoint_auth_method: methods === undefined || methods.includes("none") ? "none" : secretMethod(server),
    application_type: isOwnMachine ? "native" : "web",
  };
}

const DEVICE_GRANT = "urn:ietf:params:oauth:grant-type:device_code";

async function register(registering: RegistrationOptions, endpoint: string): Promise<ClientRecord> {
  const { server, network, redirectUri } = registering;
  const answer = await network.ask(endpoint, {
    method: "POST",
    headers: { "content-type": "application/json", accept: "application/json" },
    body: JSON.stringify(registrationOf(server, redirectUri)),
  });
  const found = objectIn(answer);
  if (answer.status >= 500)
    throw notNow(network.label, `cannot register at ${server.issuer} for now (HTTP ${answer.status}).`);
  const id = found && stringMember(found, "client_id");
  if (answer.status >= 300 || !found || id === undefined)
    throw refused(registering, answer.status, errorCode(found?.["error"]));
  const secret = stringMember(found, "client_secret");
  const expires = Number(found["client_secret_expires_at"] ?? 0);
  return {
    issuer: server.issuer,
    id,
    ...(secret && { secret }),
    method: registeredMethod(stringMember(found, "token_endpoint_auth_method"), secret, server),
    from: "registered",
    redirectUri,
    ...(expires > 0 && { secretExpiresAt: expires }),
  };
}

/** Returns the method in the server's response, which may differ from the requested one. */
function registeredMethod(
  said: string | undefined,
  secret: string | undefined,
  server: ServerRecord,
): ClientAuthMethod {
  if (!secret) return "none";
  if (said === "client_secret_basic" || said === "client_secret_post" || said === "none") return said;
  return secretMethod(server);
}

function refused(
  { network, server, redirectUri }: RegistrationOptions,
  status: number,
  error: string | undefined,
): Error {
  const why = [error, `HTTP ${status}`].filter(Boolean).join(", ");
  return needsPerson(
    network.label,
    `cannot be signed in to yet: ${server.issuer} did not register the hub with the redirect address ${redirectUri} ` +
      `(${why}). Set \`redirect_host\` or \`redirect_port\` in its \`auth\`, or register there and set \`client_id\`.`,
  );
}
