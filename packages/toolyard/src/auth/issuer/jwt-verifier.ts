import { errors, jwtVerify, type JWTVerifyGetKey, type JWTVerifyResult } from "jose";
import type { Identity } from "../../core/calls/identity.ts";
import type { JsonObject } from "../../core/json/json.ts";
import type { Audience } from "../audience.ts";
import { identityOfClaims } from "../claims.ts";
import type { IssuerOptions } from "../options.ts";
import { ProviderUnavailable, TokenError } from "../token-error.ts";

export interface JwtRules {
  readonly issuer: Pick<IssuerOptions, "url" | "algorithms" | "tokenTypes" | "nameClaim" | "groupsClaim">;
  readonly audience: Pick<Audience, "matches">;
  readonly clockSkewMs: number;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

const MAX_TOKEN_CHARS = 16_384;
/**
 * Claims that occur only in ID tokens (OpenID Connect Core 2, 3.1.3.6, 3.3.2.11), so a token with one of them is
 * refused.
 */
const ID_TOKEN_CLAIMS = ["nonce", "at_hash", "c_hash", "s_hash"];

/** Verifies JWT access tokens (RFC 9068): signature, `typ`, `iss`, `aud`, `exp`, `nbf`. Every check is mandatory. */
export class JwtVerifier {
  readonly #rules: JwtRules;
  readonly #findKey: JWTVerifyGetKey;

  constructor(rules: JwtRules, findKey: JWTVerifyGetKey) {
    this.#rules = rules;
    this.#findKey = findKey;
  }

  /**
   * Rejects with a `TokenError` if the token is not valid, and with `ProviderUnavailable` if the keys cannot be read.
   */
  async verify(token: string): Promise<Identity> {
    if (token.length > MAX_TOKEN_CHARS) throw new TokenError("The access token is too long");
    const { payload, protectedHeader } = await this.#verifySignature(token);
    const claims = payload as JsonObject;
    this.#assertType(protectedHeader.typ, claims);
    if (!this.#rules.audience.matches(claims["aud"])) throw new TokenError("The access token is for another audience");
    return identityOfClaims(claims, this.#rules.issuer.url, this.#rules.issuer);
  }

  async #verifySignature(token: string): Promise<JWTVerifyResult> {
    const { issuer, clockSkewMs, now } = this.#rules;
    const currentDate = new Date(now());
    try {
      const verified = await jwtVerify(token, this.#findKey, {
        algorithms: [...issuer.algorithms],
        issuer: issuer.url,
        requiredClaims: ["iss", "aud", "exp"],
        clockTolerance: clockSkewMs / 1000,
        currentDate,
      });
      const { iat } = verified.payload;
      if (iat !== undefined && iat * 1000 > now() + clockSkewMs)
        throw new TokenError("The access token was issued in the future");
      return verified;
    } catch (error) {
      if (error instanceof ProviderUnavailable || error instanceof TokenError) throw error;
      throw new TokenError(reasonOf(error));
    }
  }

  #assertType(typ: string | undefined, claims: JsonObject): void {
    const type = (typ ?? "").toLowerCase().replace(/^application\//, "");
    if (!this.#rules.issuer.tokenTypes.includes(type)) throw new TokenError("The token is not an access token");
    if (type === "jwt" && ID_TOKEN_CLAIMS.some((name) => claims[name] !== undefined))
      throw new TokenError("The token is an ID token, not an access token");
  }
}

/**
 * Returns the reason of a refusal, in the hub's wording: a message of the library `jose` may contain parts of the
 * token.
 */
function reasonOf(error: unknown): string {
  if (error instanceof errors.JWTExpired) return "The access token has expired";
  if (error instanceof errors.JWTClaimValidationFailed) {
    if (error.claim === "iss") return "The access token is from another issuer";
    if (error.claim === "nbf") return "The access token is not valid yet";
    return `The claim ${/^[a-z]{1,8}$/.test(error.claim) ? error.claim : "check"} of the access token failed`;
  }
  if (error instanceof errors.JOSEAlgNotAllowed) return "The signature algorithm of the access token is not accepted";
  if (error instanceof errors.JWKSNoMatchingKey) return "The access token is signed with an unknown key";
  return "The access token is not valid";
}
