import { alwaysAdmitting, type Authenticator } from "./ports/authenticator.ts";
import type { Principal } from "./calls/call.ts";
import type { JsonObject } from "./json/json.ts";

/**
 * How callers authenticate at one place where the hub is served. Created once, when that place is opened; the listener,
 * its workers and the endpoints there share it.
 */
export interface Access {
  /** `open`: no credentials are needed. Any other mode is named after what callers send. */
  readonly mode: AccessMode;
  /** Whether callers without credentials are refused, so that one caller's results are hidden from others. */
  readonly isGuarded: boolean;
  readonly authenticator: Authenticator;
  /** Returns `WWW-Authenticate` of a refusal with this description. Empty if `mode` is `open`. */
  readonly challenge: (description: string) => string;
  /** Documents on how to authenticate, which are served without credentials. */
  readonly documents: readonly AccessDocument[];
}

/** How callers must authenticate, according to a configuration. */
export interface AccessPlan extends Pick<Access, "mode" | "isGuarded"> {
  /** Number of possible principals; 1 if all callers are the same one. */
  readonly principals: number;
}

/** A feature that adds a way to authenticate names its own mode. */
export type AccessMode = "open" | "bearer" | (string & {});

/** A document of RFC 8414, RFC 9728 or a similar standard. */
export interface AccessDocument {
  /** Below the base path, with a leading slash. */
  readonly path: string;
  /** Builds the document for the address that the request was sent to. */
  readonly read: (baseUrl: string) => JsonObject;
}

/** Admits every caller as this principal: a pipe, or a listener without tokens. */
export function openAccess(principal: Principal): Access {
  return Object.freeze({
    mode: "open",
    isGuarded: false,
    authenticator: alwaysAdmitting(principal),
    challenge: () => "",
    documents: [],
  });
}
