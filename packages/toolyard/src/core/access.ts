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
  /** True if callers without credentials are refused, so that one caller's results are hidden from others. */
  readonly isGuarded: boolean;
  readonly authenticator: Authenticator;
  /** Documents on how to authenticate, which are served without credentials. */
  readonly documents: readonly AccessDocument[];
  /** Security schemes of OpenAPI 3.1, by name. One is enough. @default `token`, a bearer token */
  readonly securitySchemes?: () => Readonly<Record<string, JsonObject>>;
  /** Called once when the address of the place is known, before the first request. */
  readonly opened?: (place: AccessPlace) => void;
}

/** The place that an access belongs to, once it is open. */
export interface AccessPlace {
  /** Canonical address with the base path, without a slash at its end. It does not depend on any request. */
  readonly baseUrl: string;
  /** Returns whether requests at a path below the base path need credentials. */
  readonly isMount: (path: string) => boolean;
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
  /** Also serves everything below `path`. @default false */
  readonly isTree?: boolean;
  /** Returns the document for what follows `path`, or nothing: 404. */
  readonly read: (rest: string) => JsonObject | undefined;
}

/** Admits every caller as this principal: a pipe, or a listener without tokens. */
export function openAccess(principal: Principal): Access {
  return Object.freeze({
    mode: "open",
    isGuarded: false,
    authenticator: alwaysAdmitting(principal),
    documents: [],
  });
}
