import { stringMember } from "../core/json/json.ts";
import { basic } from "../outbound/credentials/basic.ts";
import type { OAuthOptions } from "../outbound/credentials/oauth.ts";
import type { Challenge } from "./challenge.ts";
import { discover, type DiscoveredServer } from "./discovery.ts";
import type { ProofKey } from "./dpop.ts";
import { errorCode, needsPerson, notNow } from "./failures.ts";
import { redeem } from "./grants.ts";
import { bindIssuer } from "./issuer-binding.ts";
import { keyOf, targetOf, type LoginContext } from "./context.ts";
import { objectIn } from "./network.ts";
import type { ClientRecord, SignInRecord } from "./records.ts";
import { givenClient } from "./registration.ts";
import { scopesToAsk } from "./scopes.ts";

export interface TokenAcquisition {
  /** Earlier record of this sign-in. A renewal uses the same server. */
  readonly known: SignInRecord | undefined;
  /** Challenge with which the server refused a request. If present, the issuer is looked up again. */
  readonly challenge: Challenge | undefined;
  readonly key: ProofKey | undefined;
  readonly signal: AbortSignal;
}

/** Acquires a token without a user: with the client's own secret or key, or an identity token. */
export async function acquire(context: LoginContext, acquiring: TokenAcquisition): Promise<SignInRecord> {
  const { options, network, label } = context;
  const { known, challenge, key, signal } = acquiring;
  const found = await findIssuer(context, acquiring);
  const { server, resource } = found;
  const client = clientOf(options, found);
  const before = known?.server.issuer === server.issuer ? known.scopes : [];
  const asked = scopesToAsk(
    { configured: options.scopes, challenged: challenge?.scope, described: found.scopes, before },
    {},
  );
  const { grant, parameters } = await grantOf(context, found);
  const scope = asked.length > 0 && { scope: asked.join(" ") };
  const { privateKey } = options;
  const redeeming = {
    server,
    client,
    network,
    signal,
    ...(key && { key }),
    ...(privateKey !== undefined && { privateKey }),
  };
  const redeemed = await redeem(grant, { ...parameters, resource, ...scope }, redeeming);
  if (redeemed.type === "refused")
    throw needsPerson(label, `gets no token: ${server.issuer} answered ${redeemed.error}. Check its \`auth\`.`);
  const { refresh: _, ...tokens } = redeemed.tokens;
  return { ...keyOf(context), server, resource, client, scopes: asked, tokens };
}

type MachineServer = Omit<DiscoveredServer, "address">;

/**
 * Returns the issuer to which the credentials of this source are bound. Rejects with a `FailError` if it has changed.
 */
async function findIssuer(context: LoginContext, { known, challenge }: TokenAcquisition): Promise<MachineServer> {
  if (known && !challenge) return { server: known.server, resource: known.resource ?? "" };
  const found = await discover(targetOf(context), challenge, context.network);
  await bindIssuer(context, found);
  return found;
}

/** Returns the configured client. A private key without a method means `private_key_jwt`. */
function clientOf(options: OAuthOptions, { server }: MachineServer): ClientRecord {
  if (options.clientAuth === undefined && options.privateKey !== undefined)
    return givenClient({ ...options, clientAuth: "private_key_jwt" }, server);
  return givenClient(options, server);
}

interface MachineGrant {
  readonly grant: string;
  readonly parameters: Readonly<Record<string, string>>;
}

const TOKEN_EXCHANGE = "urn:ietf:params:oauth:grant-type:token-exchange";
const TOKEN_TYPE = "urn:ietf:params:oauth:token-type:";
const JWT_BEARER = "urn:ietf:params:oauth:grant-type:jwt-bearer";

async function grantOf(context: LoginContext, found: MachineServer): Promise<MachineGrant> {
  const { assertion = "", grant, subjectTokenType, audience } = context.options;
  if (grant === "client_credentials") return { grant, parameters: {} };
  if (grant === "token_exchange") {
    const wanted = { requested_token_type: `${TOKEN_TYPE}access_token`, ...(audience !== undefined && { audience }) };
    return {
      grant: TOKEN_EXCHANGE,
      parameters: { subject_token: assertion, subject_token_type: `${TOKEN_TYPE}${subjectTokenType}`, ...wanted },
    };
  }
  if (grant === "enterprise")
    return { grant: JWT_BEARER, parameters: { assertion: await exchangedAt(context, found, assertion) } };
  return { grant: JWT_BEARER, parameters: { assertion } };
}

/** Exchanges the identity token for an assertion that this authorization server accepts (RFC 8693, ID-JAG). */
async function exchangedAt(
  { options, network, label }: LoginContext,
  found: MachineServer,
  token: string,
): Promise<string> {
  const { tokenUrl, clientId, clientSecret } = options.identityProvider!;
  const form = new URLSearchParams({
    grant_type: TOKEN_EXCHANGE,
    requested_token_type: `${TOKEN_TYPE}id-jag`,
    audience: found.server.issuer,
    resource: found.resource,
    subject_token: token,
    subject_token_type: `${TOKEN_TYPE}id_token`,
  });
  const isSecret = clientId !== undefined && clientSecret !== undefined;
  if (clientId !== undefined && !isSecret) form.set("client_id", clientId);
  const answer = await network.ask(tokenUrl, {
    method: "POST",
    headers: {
      "content-type": "application/x-www-form-urlencoded",
      accept: "application/json",
      ...(isSecret && { authorization: `Basic ${basic(clientId, clientSecret)}` }),
    },
    body: form.toString(),
  });
  const body = objectIn(answer);
  const exchanged = body && stringMember(body, "access_token");
  if (exchanged !== undefined && answer.status < 300) return exchanged;
  const host = new URL(tokenUrl).host;
  if (answer.status >= 500) throw notNow(label, `gets no token for now: ${host} answered HTTP ${answer.status}.`);
  const why = errorCode(body?.["error"]) ?? `HTTP ${answer.status}`;
  throw needsPerson(label, `gets no token: the identity provider at ${host} answered ${why}. Check \`assertion\`.`);
}
