import type { ProviderAccount } from "./provider-account.ts";

/** Values of one sign-in at a provider. The request and the response must have the same values. */
export interface ProviderSignIn {
  readonly state: string;
  readonly nonce: string;
  /** PKCE verifier (RFC 7636). */
  readonly verifier: string;
  readonly redirectUri: string;
}

/** Identity provider at which users of the hub may sign in. */
export interface IdentityProvider {
  /** Resolves with the address to which the browser is sent. */
  authorizationUrl(signIn: ProviderSignIn): Promise<string>;
  /** Exchanges the code of a response. Rejects with a `ProviderSignInError` if the response must not be trusted. */
  account(response: URLSearchParams, signIn: ProviderSignIn): Promise<ProviderAccount>;
  close(): Promise<void>;
}

/** Error: the provider's response is refused. The message repeats no text of the provider. */
export class ProviderSignInError extends Error {
  override readonly name = "ProviderSignInError";
}

const MAX_SUBJECT_CHARS = 256;
const MAX_CODE_CHARS = 4096;

/** Returns the user id that a provider sent. Throws a `ProviderSignInError` if it is not a usable id. */
export function subjectOf(value: unknown): string {
  if (typeof value === "string" && value !== "" && value.length <= MAX_SUBJECT_CHARS && !/\p{Cc}/u.test(value))
    return value;
  throw new ProviderSignInError("The provider sent no usable user id");
}

/** Returns an e-mail address, or `undefined` if the value is not one. */
export function emailOf(value: unknown): string | undefined {
  return typeof value === "string" && value.length <= MAX_SUBJECT_CHARS && /^[^@\s\p{Cc}]+@[^@\s\p{Cc}]+$/u.test(value)
    ? value.toLowerCase()
    : undefined;
}

/**
 * Returns the code of an authorization response. Throws a `ProviderSignInError` for an error response, or for a
 * response without a code.
 */
export function codeOf(response: URLSearchParams): string {
  if (response.has("error"))
    throw new ProviderSignInError(
      response.get("error") === "access_denied" ? "The sign-in was cancelled" : "The provider refused the sign-in",
    );
  const codes = response.getAll("code");
  if (codes.length === 1 && codes[0] !== "" && codes[0]!.length <= MAX_CODE_CHARS) return codes[0]!;
  throw new ProviderSignInError("The provider's response has no code");
}

/**
 * Throws a `ProviderSignInError` if `iss` names another provider, or is missing although it is required (RFC 9207).
 */
export function assertIssuer(response: URLSearchParams, issuer: string, isRequired: boolean): void {
  const issuers = response.getAll("iss");
  if (issuers.length === 0 ? isRequired : issuers.length > 1 || issuers[0] !== issuer)
    throw new ProviderSignInError("The response is from another provider");
}
