import type { Client } from "../core/call.ts";
import type { JsonObject } from "../core/json.ts";
import type { Logger } from "../core/ports.ts";
import type { CancelBy } from "./exchange.ts";

export type EraName = "legacy" | "modern";

/** Whom a request is made for; absent: for the hub itself. */
export interface OnBehalf {
  readonly client: Client;
  readonly logLevel?: string;
}

/** Name and version of a program, with whatever else it says of itself. */
export interface Implementation extends JsonObject {
  name: string;
  version: string;
}

/** What the opening of a connection settled; the rest of the code asks this and never for a date. */
export interface Era {
  readonly name: EraName;
  readonly revision: string;
  readonly serverInfo: JsonObject;
  readonly capabilities: JsonObject;
  readonly instructions?: string;
  readonly cancelBy: CancelBy;
  /** What goes into `params._meta` of each request. */
  envelope(meta: JsonObject, from?: OnBehalf): JsonObject;
}

export interface HandshakeOptions {
  readonly clientInfo: Implementation;
  /** Declared for everybody whose calls go over this connection. */
  readonly capabilities: JsonObject;
  /** The verdict of an earlier connection to the same server. */
  readonly knownEra?: EraName;
  /** How long a server may stay silent on the probe before `initialize` is tried beside it. */
  readonly probeSilenceMs: number;
  readonly logger: Logger;
}
