import type { Client } from "../core/calls/call.ts";
import { serviceKey } from "../core/service-key.ts";
import type { RequestIds } from "../upstream/connection/exchange.ts";
import type { Installs } from "./installs.ts";

/** How servers are started. */
export interface UpstreamStarts {
  /** True: a server is connected on demand; false: immediately; undefined: as configured. */
  readonly lazy: boolean | undefined;
  /** Era of the first client of a pipe. */
  readonly firstCallerEra?: Promise<Client["era"]>;
  /** Counts the requests of a client with one server, over all its connections. */
  readonly requestIds?: RequestIds | undefined;
  /** Longest wait of lists and bare names for a source that was never listed, from its start. */
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
