import { createPrivateKey, webcrypto } from "node:crypto";
import * as oauth from "oauth4webapi";
import { FailError, OptionError } from "../core/errors.ts";
import { stringMember, type JsonObject } from "../core/json/json.ts";
import { basic } from "../outbound/credentials/basic.ts";
import { retryAfterMs } from "../outbound/client/retry-after.ts";
import { createProof, nonceWanted, type ProofKey } from "./dpop.ts";
import { errorCode, notNow } from "./failures.ts";
import { objectIn, type SignInResponse, type SignInNetwork } from "./network.ts";
import { oauthServer } from "./oauth-server.ts";
import type { ClientRecord, ServerRecord, TokenRecord } from "./records.ts";

/** The parameters of one request to a token endpoint. */
export interface GrantRequest {
  readonly server: ServerRecord;
  readonly client: ClientRecord;
  readonly network: SignInNetwork;
  /** Key to which the tokens are bound; absent: tokens are not bound. */
  readonly key?: ProofKey;
  /** PEM of the client's key, for the method `private_key_jwt`. */
  readonly privateKey?: string;
  readonly signal?: AbortSignal;
}

export type GrantResult =
  | { readonly type: "tokens"; readonly tokens: TokenRecord }
  /** The endpoint refused the request with an error code (RFC 6749, 5.2). */
  | { readonly type: "refused"; readonly error: string; readonly status: number };

const MAX_TOKEN_CHARS = 32 * 1024;
const MAX_LIFETIME_MS = 366 * 24 * 3_600_000;

/**
 * Placeholder for the client id, which the library requires. It is not sent, since a workload identity may have no
 * client.
 */
const NAMELESS = "nameless";

/**
 * Sends a request to a token endpoint. Rejects with a `FailError` of kind `unavailable` if the answer decides nothing
 * about the grant: a server failure, an HTML page, an invalid answer.
 */
export async function redeem(
  grant: string,
  parameters: Readonly<Record<string, string>>,
  redeeming: GrantRequest,
): Promise<GrantResult> {
  const { server, client, network, key, signal } = redeeming;
  const authenticate = await clientAuthOf(redeeming);
  const ask = async (nonce?: string): Promise<SignInResponse> => {
    let answer: SignInResponse | undefined;
    await oauth.genericTokenEndpointRequest(
      oauthServer(server),
      { client_id: client.id === "" ? NAMELESS : client.id },
      authenticate,
      grant,
      { ...parameters },
      {
        // Unencrypted addresses are allowed here, because `SignInNetwork` has already checked the address.
        [oauth.allowInsecureRequests]: true,
        [oauth.customFetch]: async (address, { headers, body }) => {
          const proof = key && { dpop: createProof(key, { method: "POST", url: address, ...(nonce && { nonce }) }) };
          const sent = { ...(headers as Record<string, string>), ...proof };
          answer = await network.ask(address, { method: "POST", headers: sent, body: String(body) }, signal);
          return new Response();
        },
      },
    );
    return answer!;
  };
  const first = await ask();
  const nonce = key && nonceWanted(first, objectIn(first));
  return toRedeemed(nonce === undefined ? first : await ask(nonce), redeeming);
}

function toRedeemed(answer: SignInResponse, { network, server }: GrantRequest): GrantResult {
  const { status } = answer;
  const found = objectIn(answer);
  const error = errorCode(found?.["error"]);
  const host = new URL(server.token_endpoint).host;
  if (status === 408 || status === 429 || status >= 500) {
    const wait = retryAfterMs(answer.header("retry-after"), Date.now());
    const extras = wait === undefined ? {} : { retryAfterMs: wait };
    throw notNow(network.label, `gets no token for now: ${host} answered HTTP ${status}. Try again later.`, extras);
  }
  // Some servers refuse with status 200 and an error in the body, so the body decides.
  if (error !== undefined) return { type: "refused", error, status };
  const tokens = found && status < 300 ? readTokens(found) : undefined;
  if (tokens) return { type: "tokens", tokens };
  throw notNow(network.label, `gets no token for now: ${host} answered HTTP ${status} and nothing that is a token.`);
}

function readTokens(found: JsonObject): TokenRecord | undefined {
  const access = tokenMember(found, "access_token");
  if (access === undefined) return undefined;
  const type = stringMember(found, "token_type")?.toLowerCase();
  const refresh = tokenMember(found, "refresh_token");
  const granted = found["scope"];
  const scope = Array.isArray(granted) ? granted.join(" ") : granted;
  const seconds = Number(found["expires_in"] ?? Number.NaN);
  return {
    access,
    type: type === "dpop" ? "DPoP" : "Bearer",
    ...(refresh !== undefined && { refresh }),
    ...(typeof scope === "string" && scope !== "" && { scope }),
    obtainedAt: Date.now(),
    ...(Number.isFinite(seconds) && seconds >= 0 && { lifetimeMs: Math.min(seconds * 1000, MAX_LIFETIME_MS) }),
  };
}

function tokenMember(found: JsonObject, name: string): string | undefined {
  const value = stringMember(found, name);
  return value !== undefined && value.length <= MAX_TOKEN_CHARS && /^[\x21-\x7e]+$/.test(value) ? value : undefined;
}

/** Returns the library's client authentication for a client. */
export async function clientAuthOf({
  client,
  privateKey,
}: Pick<GrantRequest, "client" | "privateKey">): Promise<oauth.ClientAuth> {
  const { id, secret = "" } = client;
  switch (client.method) {
    case "none":
      return id === "" ? () => {} : oauth.None();
    case "client_secret_post":
      return oauth.ClientSecretPost(secret);
    // The library's own method is not used, because it encodes characters that forms do not encode and that many
    // servers do not decode.
    case "client_secret_basic":
      return (...[, , , headers]) => headers.set("authorization", `Basic ${basic(id, secret)}`);
    case "private_key_jwt":
      return oauth.PrivateKeyJwt(await importKey(privateKey ?? ""));
  }
}

/** Imports a key of any algorithm that signs JWTs; the algorithm follows from the key. */
async function importKey(pem: string): Promise<webcrypto.CryptoKey> {
  try {
    const key = createPrivateKey(pem);
    const { asymmetricKeyType: type, asymmetricKeyDetails: details } = key;
    const algorithm =
      type === "ec"
        ? { name: "ECDSA", namedCurve: CURVES[details?.namedCurve ?? ""] ?? "P-256" }
        : type === "rsa"
          ? { name: "RSASSA-PKCS1-v1_5", hash: "SHA-256" }
          : { name: "Ed25519" };
    return await webcrypto.subtle.importKey("pkcs8", key.export({ type: "pkcs8", format: "der" }), algorithm, false, [
      "sign",
    ]);
  } catch (error) {
    throw new OptionError("`auth.private_key` is no private key in PEM that signs. Its value is not shown.", {
      cause: error,
    });
  }
}

const CURVES: Readonly<Record<string, string>> = { prime256v1: "P-256", secp384r1: "P-384", secp521r1: "P-521" };

/** Returns a form with client authentication, for an endpoint other than the token endpoint. */
export async function authorised(
  form: Readonly<Record<string, string>>,
  redeeming: Pick<GrantRequest, "server" | "client" | "privateKey">,
): Promise<{ readonly method: "POST"; readonly headers: Record<string, string>; readonly body: string }> {
  const { server, client } = redeeming;
  const headers = new Headers({ "content-type": "application/x-www-form-urlencoded", accept: "application/json" });
  const body = new URLSearchParams(form);
  const authenticate = await clientAuthOf(redeeming);
  await authenticate(oauthServer(server), { client_id: client.id }, body, headers);
  return { method: "POST", headers: Object.fromEntries(headers), body: body.toString() };
}

/** Revokes a token (RFC 7009). Resolves with false if the server does not support that. */
export async function revoke(token: string, redeeming: GrantRequest): Promise<boolean> {
  const { server, network } = redeeming;
  const endpoint = server.revocation_endpoint;
  if (endpoint === undefined) return false;
  try {
    const answer = await network.ask(endpoint, await authorised({ token }, redeeming));
    return answer.status < 300;
  } catch (error) {
    if (error instanceof FailError) return false;
    throw error;
  }
}
