import * as oauth from "oauth4webapi";
import { errorCode, needsPerson } from "./failures.ts";
import { oauthServer } from "./oauth-server.ts";
import type { ClientRecord, ServerRecord } from "./records.ts";

/** A started sign-in. The authorization response is checked against it. */
export interface Begun {
  readonly address: string;
  readonly state: string;
  readonly verifier: string;
  readonly redirectUri: string;
}

export interface AuthorizationRequest {
  readonly server: ServerRecord;
  readonly client: ClientRecord;
  readonly resource: string;
  readonly scopes: readonly string[];
  readonly redirectUri: string;
}

/**
 * Returns the address of the authorization request, which the user opens: code flow with PKCE S256, state and the
 * resource.
 */
export async function begin({ server, client, resource, scopes, redirectUri }: AuthorizationRequest): Promise<Begun> {
  const verifier = oauth.generateRandomCodeVerifier();
  const state = oauth.generateRandomState();
  const url = new URL(server.authorization_endpoint ?? "");
  const parameters = {
    response_type: "code",
    client_id: client.id,
    redirect_uri: redirectUri,
    code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
    code_challenge_method: "S256",
    state,
    resource,
    ...(scopes.length > 0 && { scope: scopes.join(" ") }),
    // The user must be asked for consent, because OpenID Connect issues a refresh token only with explicit consent.
    ...(scopes.includes("offline_access") && { prompt: "consent" }),
  };
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  return { address: url.href, state, verifier, redirectUri };
}

/**
 * Returns the code of an authorization response. Checks first that the response comes from this server for this
 * sign-in: state and issuer (RFC 9207) are compared exactly before any other parameter is read. Throws a `FailError`.
 */
export function codeIn(
  parameters: URLSearchParams,
  { label, server, client, begun }: { label: string; server: ServerRecord; client: ClientRecord; begun: Begun },
): string {
  try {
    const good = oauth.validateAuthResponse(oauthServer(server), { client_id: client.id }, parameters, begun.state);
    const code = good.get("code");
    if (code) return code;
  } catch (error) {
    if (error instanceof oauth.AuthorizationResponseError)
      throw needsPerson(
        label,
        `is not signed in to: ${server.issuer} answered ${errorCode(error.error) ?? "with an error"}.`,
      );
  }
  throw needsPerson(
    label,
    "is not signed in to: the browser returned a response that does not belong to this sign-in, so it " +
      "was not used. Start again.",
  );
}
