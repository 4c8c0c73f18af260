import type { Principal } from "../calls/call.ts";

/** Data by which a caller identifies itself. */
export interface Credentials {
  /** Returns a header by its name in lower case. Returns `undefined` on a transport without headers. */
  header(name: string): string | undefined;
  /** Method of the request, for proofs that name it. Absent on a transport without requests. */
  readonly method?: string;
  /** Target of the request, with the base path of the hub. */
  readonly target?: string;
  /** True if the hub holds the credentials for a caller, which can then send no proof of a key. @default false */
  readonly isHeldByHub?: boolean;
}

export type Authentication = AdmittedCaller | RefusedCaller;

export interface AdmittedCaller {
  readonly admitted: true;
  readonly principal: Principal;
  /** Milliseconds for which another process may cache this result. @default no limit */
  readonly keepMs?: number;
  /** Expiry of the credentials, in milliseconds since 1970. @default none */
  readonly untilMs?: number;
}

export interface RefusedCaller {
  readonly admitted: false;
  /**
   * HTTP status. 403: the caller is known and has no access. 503: the credentials cannot be checked now. @default 401
   */
  readonly status?: 401 | 403 | 503;
  /** With 503: milliseconds after which the request may be repeated. */
  readonly retryAfterMs?: number;
  readonly message: string;
  /** Value of `WWW-Authenticate`, for transports with headers. */
  readonly challenge: string;
  /** Value of `DPoP-Nonce`: the nonce that the next proof must contain (RFC 9449 section 9). */
  readonly nonce?: string;
}

/**
 * Identifies callers. The hub creates one for each address at which it is served. All listeners of that address use it,
 * in this process or in another.
 */
export interface Authenticator {
  /**
   * Returns synchronously if no other service must be consulted. Rejects only on an internal error; the caller is then
   * refused. `mount` is the path of the requested endpoint; challenges name the metadata of this path.
   */
  authenticate(credentials: Credentials, mount?: string): Authentication | Promise<Authentication>;
  /**
   * Returns the challenge for an operation that needs these scopes at this mount. Absent if callers have no scopes.
   */
  challengeScopes?(scopes: readonly string[], mount: string): string;
}

/**
 * Returns an authenticator that admits every caller as this principal: for a pipe, or for a listener that requires no
 * token.
 */
export function alwaysAdmitting(principal: Principal): Authenticator {
  const admitted: AdmittedCaller = Object.freeze({ admitted: true, principal });
  return { authenticate: () => admitted };
}

/** Empty credentials, for a transport that carries none. */
export const NO_CREDENTIALS: Credentials = Object.freeze({ header: () => undefined });
