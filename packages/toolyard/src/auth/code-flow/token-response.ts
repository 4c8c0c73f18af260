import { createHash } from "node:crypto";
import { stringMember, type JsonObject } from "../../core/json/json.ts";
import { CodeFlowRefused, type IssuedTokens } from "../../core/ports/code-flow.ts";
import { firstChars } from "../../core/text/truncate.ts";

const MAX_REASON_CHARS = 300;

/** Returns the tokens of a token response (RFC 6749 section 5.1). Throws a `CodeFlowRefused`. */
export function tokensOf(response: JsonObject, now: number): IssuedTokens {
  const accessToken = stringMember(response, "access_token");
  const { token_type: type, expires_in: seconds } = response;
  if (accessToken === undefined || typeof type !== "string" || type.toLowerCase() !== "bearer")
    throw refusedBy(response);
  const refreshToken = stringMember(response, "refresh_token");
  return {
    accessToken,
    ...(refreshToken !== undefined && { refreshToken }),
    ...(typeof seconds === "number" && { expiresAt: now + seconds * 1000 }),
  };
}

/**
 * Returns the code of an authorization response. Throws a `CodeFlowRefused` for an error response, a missing code, or a
 * response of another issuer.
 */
export function codeOf(response: URLSearchParams, issuer: string): string {
  if (response.has("error")) throw refusedBy(Object.fromEntries(response));
  const from = response.get("iss");
  if (from !== null && from !== issuer)
    throw new CodeFlowRefused("The response is from another authorization server than the one that was asked.");
  const code = response.get("code");
  if (code === null || code === "") throw new CodeFlowRefused("The authorization server sent no code.");
  return code;
}

/** Returns the error of an OAuth error response. */
export function refusedBy(response: JsonObject): CodeFlowRefused {
  const reason = stringMember(response, "error_description") ?? stringMember(response, "error") ?? "no reason";
  return new CodeFlowRefused(`The authorization server refused: ${firstChars(reason, MAX_REASON_CHARS)}`);
}

/** Returns the parameters of an authorization request with PKCE. */
export function authorizationQuery(facts: {
  readonly clientId: string;
  readonly redirectUri: string;
  readonly scopes: readonly string[];
  readonly resource: string | undefined;
  readonly state: string;
  readonly verifier: string;
}): Readonly<Record<string, string>> {
  const { clientId, redirectUri, scopes, resource, state, verifier } = facts;
  return {
    response_type: "code",
    client_id: clientId,
    redirect_uri: redirectUri,
    ...(scopes.length > 0 && { scope: [...new Set(scopes)].join(" ") }),
    ...(resource !== undefined && { resource }),
    state,
    code_challenge: createHash("sha256").update(verifier).digest("base64url"),
    code_challenge_method: "S256",
  };
}
