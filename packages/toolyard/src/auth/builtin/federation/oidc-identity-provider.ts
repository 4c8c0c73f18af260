import { createHash } from "node:crypto";
import { jwtVerify } from "jose";
import type { JsonObject } from "../../../core/json/json.ts";
import type { ProxyEnvironment } from "../../../outbound/proxy.ts";
import { claimAt, groupsOf } from "../../claims.ts";
import { IssuerMetadata } from "../../issuer/issuer-metadata.ts";
import { KeySet } from "../../issuer/key-set.ts";
import { ProviderClient } from "../../issuer/provider-client.ts";
import { ProviderUnavailable, TokenError } from "../../token-error.ts";
import type { ProviderAccount } from "./provider-account.ts";
import {
  assertIssuer,
  codeOf,
  emailOf,
  ProviderSignInError,
  subjectOf,
  type IdentityProvider,
  type ProviderSignIn,
} from "./identity-provider.ts";
import { JWT_ALGORITHMS } from "../../options.ts";
import type { IdentityProviderOptions } from "./options.ts";

const CLOCK_SKEW_S = 30;

/** Provider with OpenID Connect: code flow with PKCE, `nonce` and `iss`. */
export class OidcIdentityProvider implements IdentityProvider {
  readonly #options: IdentityProviderOptions;
  readonly #client: ProviderClient;
  readonly #metadata: IssuerMetadata;
  readonly #keys: KeySet;

  constructor(options: IdentityProviderOptions, environment: ProxyEnvironment) {
    const { url, timeoutMs } = options;
    this.#options = options;
    this.#client = new ProviderClient({ issuer: url, timeoutMs, environment });
    this.#metadata = new IssuerMetadata(this.#client, url, Date.now);
    this.#keys = new KeySet(async () => this.#client.read(await this.#metadata.address("jwks_uri")), Date.now);
  }

  async authorizationUrl({ state, nonce, verifier, redirectUri }: ProviderSignIn): Promise<string> {
    const { clientId, scopes } = this.#options;
    const url = this.#client.browserUrl(await this.#metadata.address("authorization_endpoint"));
    const sent = {
      response_type: "code",
      client_id: clientId,
      redirect_uri: redirectUri,
      scope: [...new Set(["openid", ...scopes])].join(" "),
      state,
      nonce,
      code_challenge: challengeOf(verifier),
      code_challenge_method: "S256",
    };
    for (const [name, value] of Object.entries(sent)) url.searchParams.set(name, value);
    return url.href;
  }

  async account(response: URLSearchParams, signIn: ProviderSignIn): Promise<ProviderAccount> {
    const { id, url, groupsClaim } = this.#options;
    const hasIssuer = (await this.#metadata.find("authorization_response_iss_parameter_supported")) === true;
    assertIssuer(response, url, hasIssuer);
    const tokens = await this.#redeem(codeOf(response), signIn);
    const claims = await this.#withUserInfo(await this.#verify(tokens["id_token"], signIn.nonce), tokens);
    const email = claims["email_verified"] === true ? emailOf(claims["email"]) : undefined;
    return {
      provider: id,
      issuer: url,
      subject: subjectOf(claims["sub"]),
      ...(email !== undefined && { email }),
      groups: readGroups(claims, groupsClaim),
    };
  }

  close(): Promise<void> {
    return this.#client.close();
  }

  async #redeem(code: string, { verifier, redirectUri }: ProviderSignIn): Promise<JsonObject> {
    const { clientId, clientSecret } = this.#options;
    const methods = await this.#metadata.find("token_endpoint_auth_methods_supported");
    const isInBody = Array.isArray(methods) && !methods.includes("client_secret_basic");
    const body = new URLSearchParams({
      grant_type: "authorization_code",
      code,
      redirect_uri: redirectUri,
      code_verifier: verifier,
      ...(isInBody && { client_id: clientId, client_secret: clientSecret }),
    });
    const pair = Buffer.from([clientId, clientSecret].map(encodeURIComponent).join(":")).toString("base64");
    return this.#client.read(await this.#metadata.address("token_endpoint"), {
      method: "POST",
      headers: {
        "content-type": "application/x-www-form-urlencoded",
        accept: "application/json",
        ...(!isInBody && { authorization: `Basic ${pair}` }),
      },
      body: body.toString(),
    });
  }

  /** Verifies an ID token (OpenID Connect Core 3.1.3.7). */
  async #verify(idToken: unknown, nonce: string): Promise<JsonObject> {
    const { url, clientId } = this.#options;
    if (typeof idToken !== "string") throw new ProviderSignInError("The provider sent no ID token");
    const claims = await jwtVerify(idToken, this.#keys.find, {
      algorithms: [...JWT_ALGORITHMS],
      issuer: url,
      audience: clientId,
      requiredClaims: ["sub", "iat", "exp"],
      clockTolerance: CLOCK_SKEW_S,
    }).then(
      ({ payload }) => payload as JsonObject,
      (error: unknown) => {
        if (error instanceof ProviderUnavailable) throw error;
        throw new ProviderSignInError("The provider's ID token is not valid");
      },
    );
    const isForOthers = Array.isArray(claims["aud"]) && claims["aud"].length > 1 && claims["azp"] !== clientId;
    if (claims["nonce"] !== nonce || isForOthers || (claims["azp"] !== undefined && claims["azp"] !== clientId))
      throw new ProviderSignInError("The provider's ID token was made for another sign-in");
    return claims;
  }

  /** Adds the claims of the userinfo endpoint, where many providers publish e-mail address and groups. */
  async #withUserInfo(claims: JsonObject, tokens: JsonObject): Promise<JsonObject> {
    const [endpoint, token] = [await this.#metadata.find("userinfo_endpoint"), tokens["access_token"]];
    if (typeof endpoint !== "string" || typeof token !== "string") return claims;
    const info = await this.#client.read(endpoint, {
      headers: { authorization: `Bearer ${token}`, accept: "application/json" },
    });
    // OpenID Connect Core 5.3.2: claims of another subject must not be used.
    if (info["sub"] !== claims["sub"]) throw new ProviderSignInError("The provider described another user");
    // The e-mail address and the claim that it is verified must come from the same document.
    const { email_verified: isVerified } = claims["email"] === undefined ? info : claims;
    return { ...info, ...claims, email_verified: isVerified === true };
  }
}

export function challengeOf(verifier: string): string {
  return createHash("sha256").update(verifier).digest("base64url");
}

function readGroups(claims: JsonObject, groupsClaim: string): readonly string[] {
  try {
    return groupsOf(claimAt(claims, groupsClaim));
  } catch (error) {
    if (error instanceof TokenError) throw new ProviderSignInError("The provider names too many groups");
    throw error;
  }
}
