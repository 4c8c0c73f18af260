import type { Client } from "../../core/calls/call.ts";
import type { JsonObject } from "../../core/json/json.ts";
import type { Logger } from "../../core/ports/ports.ts";
import type { CancelBy } from "./exchange.ts";
import type { ServerOpening } from "./server-opening.ts";

export type EraName = "legacy" | "modern";

/** Which era is spoken to a server: the one it is found to speak, or one alone. */
export type EraChoice = "auto" | EraName;

/** Whom a request is made for; absent: for the hub itself. */
export interface OnBehalf {
  readonly client: Client;
  readonly logLevel?: string | undefined;
}

/** Name and version of a program, with whatever else it says of itself. */
export interface Implementation extends JsonObject {
  name: string;
  version: string;
}

/** What the opening of a connection settled; the rest of the code asks this and never for a date. */
export interface Era extends ServerOpening {
  readonly name: EraName;
  readonly revision: string;
  /** What it said of itself is for one caller. @default false */
  readonly isPrivate?: boolean;
  readonly cancelBy: CancelBy;
  /** What goes into `params._meta` of each request. */
  envelope(meta: JsonObject, from?: OnBehalf): JsonObject;
}

export interface HandshakeOptions {
  readonly clientInfo: Implementation;
  /** Declared for everybody whose calls go over this connection. */
  readonly capabilities: JsonObject;
  /** Which handshakes are tried at all. */
  readonly era: EraChoice;
  /** With `era: "auto"`: the verdict of an earlier connection to the same server. */
  readonly knownEra?: EraName;
  /** With `era: "auto"`: the caller is served best in the legacy era, so that is tried first, for a while. */
  readonly prefersLegacy?: boolean;
  /** How long a server may stay silent on the probe before `initialize` is tried beside it. */
  readonly probeSilenceMs: number;
  /**
   * The same for a server that was seen to speak the modern era, since it is starting, for one on HTTP, which has
   * started and refuses what it does not know, and for `initialize` where that is a preference only.
   */
  readonly patienceMs: number;
  readonly logger: Logger;
}
