import type { Principal } from "../calls/call.ts";

/** What a caller brings along to say who it is. */
export interface Credentials {
  /** A header by its name in lower case; nothing where the way it came by has none. */
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
  /** What `WWW-Authenticate` says, where there are headers. */
  readonly challenge: string;
}

/**
 * Tells who calls. The hub makes one for each way that it is served by; whatever listens there asks it, in this process
 * or in another.
 */
export interface Authenticator {
  /** At once where nobody has to be asked. Rejects by a fault only: nobody is admitted then. */
  authenticate(credentials: Credentials): Authentication | Promise<Authentication>;
}

/** Whoever is on the other end is this one: a pipe, or a listener that wants no token. */
export function alwaysAdmitting(principal: Principal): Authenticator {
  const admitted: AdmittedCaller = Object.freeze({ admitted: true, principal });
  return { authenticate: () => admitted };
}

/** Of whoever comes by a way that carries none. */
export const NO_CREDENTIALS: Credentials = Object.freeze({ header: () => undefined });
