import { alwaysAdmitting, type Authenticator } from "./ports/authenticator.ts";
import type { Principal } from "./calls/call.ts";
import type { JsonObject } from "./json/json.ts";
import type { CodeFlow, CodeFlowClient } from "./ports/code-flow.ts";

/**
 * Authentication of callers at one address of the hub. Created once, when the address is opened; its listener, workers
 * and endpoints share it.
 */
export interface Access {
  /** `open` requires no credentials. Any other mode is named after the credentials that callers send. */
  readonly mode: AccessMode;
  /** True if callers without credentials are refused. Each caller's results are then hidden from other callers. */
  readonly isGuarded: boolean;
  readonly authenticator: Authenticator;
  /** Metadata documents about authentication, served without credentials. */
  readonly documents: readonly AccessDocument[];
  /** Security schemes of OpenAPI 3.1, by name. A caller needs one of them. @default `token`, a bearer token */
  readonly securitySchemes?: () => Readonly<Record<string, JsonObject>>;
  /** Loads the authorization servers at which browsers can sign in to this hub. @default none */
  readonly loadCodeFlows?: (client: CodeFlowClient) => Promise<readonly CodeFlow[]>;
  /** Called once, when the address of the hub is known and before the first request. */
  readonly opened?: (place: AccessPlace) => void;
}

/** Address for which an access authenticates callers, after the address was opened. */
export interface AccessPlace {
  /** Canonical address with the base path, without a trailing slash. Does not depend on any request. */
  readonly baseUrl: string;
  /** Returns true if requests at a path below the base path need credentials. */
  readonly isMount: (path: string) => boolean;
}

/** Authentication that a configuration requires. */
export interface AccessPlan extends Pick<Access, "mode" | "isGuarded"> {
  /** Number of possible principals. It is 1 if all callers are the same principal. */
  readonly principals: number;
}

/** Mode of authentication. A feature that adds a way to authenticate adds its own mode. */
export type AccessMode = "open" | "bearer" | (string & {});

/** Metadata document of RFC 8414, RFC 9728 or a similar standard. */
export interface AccessDocument {
  /** Path below the base path, with a leading slash. */
  readonly path: string;
  /** True to serve all paths below `path` too. @default false */
  readonly isTree?: boolean;
  /** Returns the document for the rest of the path after `path`. If it returns `undefined`, the response is 404. */
  readonly read: (rest: string) => JsonObject | undefined;
}

/** Returns an access that admits every caller as this principal: for a pipe, or for a listener without tokens. */
export function openAccess(principal: Principal): Access {
  return Object.freeze({
    mode: "open",
    isGuarded: false,
    authenticator: alwaysAdmitting(principal),
    documents: [],
  });
}
