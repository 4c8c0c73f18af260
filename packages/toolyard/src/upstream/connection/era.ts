import type { Client } from "../../core/calls/call.ts";
import type { JsonObject } from "../../core/json/json.ts";
import type { Logger } from "../../core/ports/ports.ts";
import type { CancelBy } from "./exchange.ts";
import type { ServerOpening } from "./server-opening.ts";

export type EraName = "legacy" | "modern";

/** The era to use with a server: the one that it supports, or a fixed one. */
export type EraChoice = "auto" | EraName;

/** The caller for whom a request is made; absent: the hub itself. */
export interface OnBehalf {
  readonly client: Client;
  readonly logLevel?: string | undefined;
}

/** Name and version of a program, with its further members. */
export interface Implementation extends JsonObject {
  name: string;
  version: string;
}

/** The result of opening a connection; other code reads this and never a revision date. */
export interface Era extends ServerOpening {
  readonly name: EraName;
  readonly revision: string;
  /** The server info is for one caller. @default false */
  readonly isPrivate?: boolean;
  readonly cancelBy: CancelBy;
  /** Returns `params._meta` of each request. */
  envelope(meta: JsonObject, from?: OnBehalf): JsonObject;
}

export interface HandshakeOptions {
  readonly clientInfo: Implementation;
  /** Declared on behalf of all callers of this connection. */
  readonly capabilities: JsonObject;
  /** The handshakes that are tried. */
  readonly era: EraChoice;
  /** Revision that `initialize` names first. Absent: the newest. */
  readonly protocolVersion?: string | undefined;
  /** With `era: "auto"`: the era found by an earlier connection to the same server. */
  readonly knownEra?: EraName;
  /** With `era: "auto"`: the legacy era suits the caller best, so it is tried first, for a limited time. */
  readonly prefersLegacy?: boolean;
  /** Longest silence after the probe before `initialize` is tried as well, in milliseconds. */
  readonly probeSilenceMs: number;
  /**
   * The same limit for a server that is known to support the modern era and may be starting, for one on HTTP, which is
   * running and refuses unknown methods, and for an `initialize` that is only preferred.
   */
  readonly patienceMs: number;
  readonly logger: Logger;
}
