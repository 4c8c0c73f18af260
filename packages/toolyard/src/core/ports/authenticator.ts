import type { Principal } from "../calls/call.ts";

/** The means by which a caller identifies itself. */
export interface Credentials {
  /** Returns a header by its name in lower case; `undefined` on a transport without headers. */
  header(name: string): string | undefined;
}

export type Authentication = AdmittedCaller | RefusedCaller;

export interface AdmittedCaller {
  readonly admitted: true;
  readonly principal: Principal;
  /** Time for which another process may use this answer without asking again. @default as long as it likes */
  readonly keepMs?: number;
  /** Time from which the credentials are not valid any more, in milliseconds since 1970. @default never */
  readonly untilMs?: number;
}

export interface RefusedCaller {
  readonly admitted: false;
  /** 403: the caller is known and has no right to enter. 503: the credentials cannot be checked now. @default 401 */
  readonly status?: 401 | 403 | 503;
  /** With 503: when trying again makes sense. */
  readonly retryAfterMs?: number;
  readonly message: string;
  /** Value of `WWW-Authenticate`, for transports with headers. */
  readonly challenge: string;
}

/**
 * Identifies callers. The hub creates one for each way in which it is served; every listener there uses it, in this
 * process or in another.
 */
export interface Authenticator {
  /**
   * Returns synchronously if no other service must be consulted. Rejects only on a fault; the caller is then not
   * admitted. `mount` is the path of the endpoint that the request is for; challenges name its metadata.
   */
  authenticate(credentials: Credentials, mount?: string): Authentication | Promise<Authentication>;
  /** Returns the challenge for an operation that needs these scopes at this mount. Absent: callers have no scopes. */
  challengeScopes?(scopes: readonly string[], mount: string): string;
}

/** Admits every caller as this principal: a pipe, or a listener that requires no token. */
export function alwaysAdmitting(principal: Principal): Authenticator {
  const admitted: AdmittedCaller = Object.freeze({ admitted: true, principal });
  return { authenticate: () => admitted };
}

/** Credentials of a transport that carries none. */
export const NO_CREDENTIALS: Credentials = Object.freeze({ header: () => undefined });
