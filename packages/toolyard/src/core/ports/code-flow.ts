/** The hub as a client of an authorization server. */
export interface CodeFlowClient {
  /** Client id at the external issuer. Absent: browsers cannot sign in at this issuer. */
  readonly clientId?: string;
  readonly clientSecret?: string;
  /** Scopes to request at the external issuer besides those that every token needs. */
  readonly scopes: readonly string[];
  /** True if requests to the external issuer name this hub as the resource (RFC 8707). */
  readonly namesResource: boolean;
}

/** One sign-in of a browser, from the redirect to the server until its return. */
export interface CodeFlowRequest {
  readonly state: string;
  /** Code verifier of PKCE (RFC 7636). */
  readonly verifier: string;
}

/** Tokens that an authorization server issued. */
export interface IssuedTokens {
  readonly accessToken: string;
  /** @default the session ends with its access token */
  readonly refreshToken?: string;
  /** Milliseconds since 1970. @default unknown */
  readonly expiresAt?: number;
}

/** Sign-in of browsers by authorization code and PKCE at one authorization server. */
export interface CodeFlow {
  /** Short name in addresses. */
  readonly name: "hub" | "issuer";
  /** Name of the authorization server that is shown to users. */
  readonly label: string;
  /** Address at this hub to which the server returns the browser. */
  readonly redirectUri: string;
  /** Resolves with the address to which the browser is sent. */
  authorizationUrl(request: CodeFlowRequest): Promise<string>;
  /**
   * Resolves with the tokens for the response that the browser brought back. Rejects with a `CodeFlowRefused` if the
   * server or the user refused, and with another error if the server does not answer.
   */
  redeem(response: URLSearchParams, request: CodeFlowRequest): Promise<IssuedTokens>;
  /** Resolves with new tokens. Rejects like `redeem`. */
  refresh(refreshToken: string): Promise<IssuedTokens>;
  /** Revokes a refresh token and its access tokens, if the server supports it. Never rejects. */
  revoke(refreshToken: string): Promise<void>;
  /** Closes connections to the server. */
  close(): Promise<void>;
}

/** Error: the authorization server refused. The message may be shown to the user. */
export class CodeFlowRefused extends Error {
  override readonly name = "CodeFlowRefused";
}
