import type { Client } from "../../core/calls/call.ts";
import type { JsonObject } from "../../core/json/json.ts";
import type { Logger } from "../../core/ports/ports.ts";
import type { CancelBy } from "./exchange.ts";
import type { ServerOpening } from "./server-opening.ts";

export type EraName = "legacy" | "modern";

/** The era to use with a server: the one that it supports, or a fixed one. */
export type EraChoice = "auto" | EraName;

/** The caller for whom a request is made. Absent: the request is made for the hub itself. */
export interface OnBehalf {
  readonly client: Client;
  readonly logLevel?: string | undefined;
}

/** Name and version of a program, with its further members. */
export interface Implementation extends JsonObject {
  name: string;
  version: string;
}

/** The result of opening a connection. Other code reads this and never compares revision dates. */
export interface Era extends ServerOpening {
  readonly name: EraName;
  readonly revision: string;
  /** True if the server info is for one caller. @default false */
  readonly isPrivate?: boolean;
  readonly cancelBy: CancelBy;
  /** Returns `params._meta` of a request. */
  envelope(meta: JsonObject, from?: OnBehalf): JsonObject;
}

export interface HandshakeOptions {
  readonly clientInfo: Implementation;
  /** Capabilities declared on behalf of all callers of this connection. */
  readonly capabilities: JsonObject;
  /** Eras whose handshakes are tried. */
  readonly era: EraChoice;
  /** Revision that `initialize` names first. Absent: the newest. */
  readonly protocolVersion?: string | undefined;
  /** With `era: "auto"`: the era that an earlier connection to the same server used. */
  readonly knownEra?: EraName;
  /**
   * With `era: "auto"`: true if the legacy era suits the caller best, so that it is tried first, for a limited time.
   */
  readonly prefersLegacy?: boolean;
  /** Maximum time without an answer to the probe before `initialize` is tried too, in milliseconds. */
  readonly probeSilenceMs: number;
  /**
   * The same limit in three other cases: a server known to support the modern era, which may be starting; a server on
   * HTTP, which is running and refuses unknown methods; and an `initialize` that is tried first because the caller uses
   * the legacy era.
   */
  readonly patienceMs: number;
  readonly logger: Logger;
}
