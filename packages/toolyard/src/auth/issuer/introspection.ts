import type { Identity } from "../../core/calls/identity.ts";
import type { JsonObject } from "../../core/json/json.ts";
import type { Audience } from "../audience.ts";
import { identityOfClaims } from "../claims.ts";
import type { IssuerOptions } from "../options.ts";
import { ProviderUnavailable, TokenError } from "../token-error.ts";
import type { ProviderClient } from "./provider-client.ts";

export interface IntrospectionRules {
  readonly issuer: IssuerOptions;
  readonly audience: Pick<Audience, "matches">;
  readonly clockSkewMs: number;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Resolves with the address of the introspection endpoint. */
  readonly endpoint: () => Promise<string>;
}

/** Maximum number of concurrent introspections; further tokens are answered 503. */
const MAX_AT_ONCE = 32;
const MAX_TOKEN_CHARS = 16_384;

/** Verifies opaque access tokens by a request to the provider (RFC 7662). */
export class Introspection {
  readonly #rules: IntrospectionRules;
  readonly #client: ProviderClient;
  #running = 0;

  constructor(rules: IntrospectionRules, client: ProviderClient) {
    this.#rules = rules;
    this.#client = client;
  }

  /**
   * Rejects with a `TokenError` if the token is not valid, and with `ProviderUnavailable` if the provider does not
   * answer.
   */
  async verify(token: string): Promise<Identity> {
    if (token.length > MAX_TOKEN_CHARS) throw new TokenError("The access token is too long");
    if (this.#running >= MAX_AT_ONCE)
      throw new ProviderUnavailable("Too many access tokens are being checked. Try again later.", 1000);
    this.#running += 1;
    try {
      return this.#identityOf(await this.#ask(token));
    } finally {
      this.#running -= 1;
    }
  }

  async #ask(token: string): Promise<JsonObject> {
    const { issuer, endpoint } = this.#rules;
    const pair = [issuer.clientId ?? "", issuer.clientSecret ?? ""].map(encodeURIComponent).join(":");
    return this.#client.read(await endpoint(), {
      method: "POST",
      headers: {
        authorization: `Basic ${Buffer.from(pair).toString("base64")}`,
        "content-type": "application/x-www-form-urlencoded",
        accept: "application/json",
      },
      body: new URLSearchParams({ token, token_type_hint: "access_token" }).toString(),
    });
  }

  #identityOf(claims: JsonObject): Identity {
    const { issuer, audience } = this.#rules;
    const { active, iss, aud, cnf, token_type: type = "Bearer" } = claims;
    if (active !== true) throw new TokenError("The access token is not active");
    // Some providers also report refresh tokens as active, so the token type is checked.
    if (typeof type !== "string" || !/^(bearer|access_token|dpop)$/i.test(type))
      throw new TokenError("The token is not an access token");
    if (iss !== undefined && iss !== issuer.url) throw new TokenError("The access token is from another issuer");
    if (!audience.matches(aud)) throw new TokenError("The access token is for another audience");
    this.#assertTime(claims);
    if (/^dpop$/i.test(type) && (cnf === undefined || cnf === null))
      throw new TokenError("The provider does not name the key to which the access token is bound");
    return identityOfClaims(claims, issuer.url, issuer);
  }

  #assertTime({ exp, nbf }: JsonObject): void {
    const { clockSkewMs, now } = this.#rules;
    if (typeof exp === "number" && exp * 1000 + clockSkewMs <= now())
      throw new TokenError("The access token has expired");
    if (typeof nbf === "number" && nbf * 1000 - clockSkewMs > now())
      throw new TokenError("The access token is not valid yet");
  }
}
