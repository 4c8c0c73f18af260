import type { Client } from "../core/calls/call.ts";
import { serviceKey } from "../core/service-key.ts";
import type { RequestIds } from "../upstream/connection/exchange.ts";
import type { Installs } from "./installs.ts";

/** Settings for starting servers. */
export interface UpstreamStarts {
  /** True: a server is connected on demand; false: immediately; undefined: as configured. */
  readonly lazy: boolean | undefined;
  /** Resolves with the era of the first client of a pipe. */
  readonly firstCallerEra?: Promise<Client["era"]>;
  /** Counter of request ids for one server, over all its connections. */
  readonly requestIds?: RequestIds | undefined;
  /**
   * Maximum time in milliseconds from a source's start for which lists, and names without a prefix, wait for a source
   * that was never listed.
   */
  readonly coldWaitMs: number;
}

export interface InstallPlaces {
  /** Folder of the install records of servers. */
  readonly folder: string;
  /** Loads the code that installs requirements of folder tools. */
  open(): Promise<Installs>;
}

export const UPSTREAM_STARTS = serviceKey<UpstreamStarts>()("starts");
export const INSTALLS = serviceKey<InstallPlaces>()("installs");
