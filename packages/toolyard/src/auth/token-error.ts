/** Error: the access token is not accepted. The caller gets the message, which never repeats parts of the token. */
export class TokenError extends Error {
  override readonly name = "TokenError";
}

/** Error: the token is not from this issuer. Another issuer may accept it. */
export class UnknownToken extends TokenError {
  override readonly name = "UnknownToken" as "TokenError";
}

/** Error: the provider is not reachable, so the token cannot be verified. The caller is refused. */
export class ProviderUnavailable extends Error {
  override readonly name = "ProviderUnavailable";
  readonly retryAfterMs: number;

  constructor(message: string, retryAfterMs = 5000) {
    super(message);
    this.retryAfterMs = retryAfterMs;
  }
}

/** Error: a limit is reached, or the shared store does not answer. The caller may try again later. */
export class TooManyChecked extends Error {
  override readonly name = "TooManyChecked";
}
