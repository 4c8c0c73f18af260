import type { Client } from "../core/calls/call.ts";
import type { Logger } from "../core/ports/ports.ts";
import type { AnyFeature } from "../kernel/feature.ts";
import type { CallWatch } from "../pipeline/ports.ts";
import type { ModulesHost } from "../providers/modules/host.ts";
import type { Store } from "../state/ports/store.ts";
import type { RequestIds } from "../upstream/connection/exchange.ts";
import type { LoadedHubConfig } from "./schema.ts";
import type { SourceFilter } from "./sources/plan.ts";

/** Options of a program that opens a hub. */
export interface HubOptions {
  readonly config: LoadedHubConfig;
  /** The environment: data folder, proxies, certificates. */
  readonly variables: Readonly<Record<string, string | undefined>>;
  /** @default from `[logging]`, on standard error */
  readonly logger?: Logger;
  /** Failures of calls are printed on standard error anyway, so the log there omits them. @default false */
  readonly printsFailures?: boolean;
  /** While it returns true, the log on standard error omits lines below `warning`. @default never */
  readonly isQuiet?: () => boolean;
  /** True: connects to upstreams when they are needed; false: immediately. @default as each is configured */
  readonly lazy?: boolean;
  /** @default all sources */
  readonly only?: SourceFilter;
  /** Shows the one configured source unchanged: no tools of the hub's own, no reserved names. @default false */
  readonly mirror?: boolean;
  /** Counts requests to the one server over all connections to it. @default each connection counts its own */
  readonly requestIds?: RequestIds;
  /** Registers what the calling program offers itself. @default none */
  readonly modulesHost?: ModulesHost;
  /**
   * The era of the first client of the pipe that is going to be served; eager sources on stdio start when it is known.
   * @default they start immediately
   */
  readonly firstCallerEra?: Promise<Client["era"]>;
  /** Store that this hub shares with others. @default from the configuration, else in memory */
  readonly store?: Store;
  /** How calls are reported while they happen. */
  readonly watch?: CallWatch;
}

/** The same with the features of the hub. */
export interface OpenHubOptions extends HubOptions {
  readonly features: readonly AnyFeature[];
}
