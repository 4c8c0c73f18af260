import type { Client } from "../core/calls/call.ts";
import type { Logger } from "../core/ports/ports.ts";
import type { AnyFeature } from "../kernel/feature.ts";
import type { CallWatch } from "../pipeline/ports.ts";
import type { ModulesHost } from "../providers/modules/host.ts";
import type { Store } from "../state/ports/store.ts";
import type { RequestIds } from "../upstream/connection/exchange.ts";
import type { LoadedHubConfig } from "./schema.ts";
import type { SourceFilter } from "./sources/plan.ts";

/** Options with which a program opens a hub. */
export interface HubOptions {
  readonly config: LoadedHubConfig;
  /** Environment variables: data folder, proxies, certificates. */
  readonly variables: Readonly<Record<string, string | undefined>>;
  /** Logger of the program. @default a log to standard error by `[logging]` */
  readonly logger?: Logger;
  /**
   * True if the program itself prints failures of calls to standard error, so that the log omits them there. @default
   * false
   */
  readonly printsFailures?: boolean;
  /** While it returns true, the log to standard error omits lines below `warning`. @default never */
  readonly isQuiet?: () => boolean;
  /**
   * True to connect to upstreams when they are needed, false to connect immediately. @default by the configuration of
   * each upstream
   */
  readonly lazy?: boolean;
  /** Selects the sources that are created. @default all sources */
  readonly only?: SourceFilter;
  /**
   * True to show the only configured source unchanged: without the hub's own tools and without reserved names. @default
   * false
   */
  readonly mirror?: boolean;
  /**
   * Counter of request ids that all connections to the only server share. @default each connection has its own counter
   */
  readonly requestIds?: RequestIds;
  /** Host of the calling program's registrations. @default none */
  readonly modulesHost?: ModulesHost;
  /**
   * Era of the first client of the pipe that will be served. Eager sources on stdio start when it is known. @default
   * they start immediately
   */
  readonly firstCallerEra?: Promise<Client["era"]>;
  /** Store that this hub shares with others. @default by the configuration, otherwise in memory */
  readonly store?: Store;
  /** Options for the log lines of calls. */
  readonly watch?: CallWatch;
}

/** Options of a program, and the features of the hub. */
export interface OpenHubOptions extends HubOptions {
  readonly features: readonly AnyFeature[];
  /** Called with each configuration that was applied. */
  readonly onConfigured?: (config: LoadedHubConfig) => void;
}
