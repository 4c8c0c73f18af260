import type { Client } from "../core/calls/call.ts";
import { serviceKey } from "../core/service-key.ts";
import type { RequestIds } from "../upstream/connection/exchange.ts";
import type { Installs } from "./installs.ts";

/** How servers are started. */
export interface UpstreamStarts {
  /** True: a server is connected when it is needed; false: immediately; undefined: as it is configured. */
  readonly lazy: boolean | undefined;
  /** Era of the first client of a pipe. */
  readonly firstCallerEra?: Promise<Client["era"]>;
  /** Counts the requests of a client with one server, over all its connections. */
  readonly requestIds?: RequestIds | undefined;
  /** How long lists and bare names wait for a source that was never listed, counted from its start. */
  readonly coldWaitMs: number;
}

export interface InstallPlaces {
  /** Folder of the records on downloads of servers. */
  readonly folder: string;
  /** Loads what installs requirements of tools in folders. */
  open(): Promise<Installs>;
}

export const UPSTREAM_STARTS = serviceKey<UpstreamStarts>()("starts");
export const INSTALLS = serviceKey<InstallPlaces>()("installs");
