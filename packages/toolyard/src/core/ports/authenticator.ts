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
}

export interface RefusedCaller {
  readonly admitted: false;
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
   * admitted.
   */
  authenticate(credentials: Credentials): Authentication | Promise<Authentication>;
}

/** Admits every caller as this principal: a pipe, or a listener that requires no token. */
export function alwaysAdmitting(principal: Principal): Authenticator {
  const admitted: AdmittedCaller = Object.freeze({ admitted: true, principal });
  return { authenticate: () => admitted };
}

/** Credentials of a transport that carries none. */
export const NO_CREDENTIALS: Credentials = Object.freeze({ header: () => undefined });
