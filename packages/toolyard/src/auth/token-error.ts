/** An access token that must not be accepted. The message is for the caller and never repeats parts of the token. */
export class TokenError extends Error {
  override readonly name = "TokenError";
}

/** The token is none of this issuer's; another one may know it. */
export class UnknownToken extends TokenError {
  override readonly name = "UnknownToken" as "TokenError";
}

/** The provider cannot be asked at the moment, so it is unknown whether a token is valid. No caller is admitted. */
export class ProviderUnavailable extends Error {
  override readonly name = "ProviderUnavailable";
  readonly retryAfterMs: number;

  constructor(message: string, retryAfterMs = 5000) {
    super(message);
    this.retryAfterMs = retryAfterMs;
  }
}
