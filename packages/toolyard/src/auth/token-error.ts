/** An access token that must not be accepted. The message is for the caller and never repeats parts of the token. */
export class TokenError extends Error {
  override readonly name = "TokenError";
}

/** The token is not from this issuer; another issuer may accept it. */
export class UnknownToken extends TokenError {
  override readonly name = "UnknownToken" as "TokenError";
}

/** The provider is unreachable, so it is unknown whether a token is valid. No caller is admitted. */
export class ProviderUnavailable extends Error {
  override readonly name = "ProviderUnavailable";
  readonly retryAfterMs: number;

  constructor(message: string, retryAfterMs = 5000) {
    super(message);
    this.retryAfterMs = retryAfterMs;
  }
}
