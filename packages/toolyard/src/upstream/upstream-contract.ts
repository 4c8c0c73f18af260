import type { Emitter } from "../core/events.ts";
import type { JsonObject } from "../core/json/json.ts";
import type { Logger } from "../core/ports/ports.ts";
import type { ListAnnouncement, LogMessage, ResourceUpdate } from "../core/sources/provider.ts";
import type { EraChoice, EraName, Implementation } from "./connection/era.ts";
import type { RequestIds } from "./connection/exchange.ts";
import type { Gate } from "./links/gate.ts";
import type { Installer } from "./links/installer.ts";
import type { LegacyProcess } from "./links/links.ts";
import type { ListingStore } from "./listing/listing-cache.ts";
import type { OpenTransport } from "./transports/transport.ts";

export interface UpstreamOptions {
  readonly openTransport: OpenTransport;
  /** Who the hub is towards the server. */
  readonly clientInfo: Implementation;
  /** `eager`: connected from the start and kept so. `lazy`: connected when it is needed. */
  readonly start: "eager" | "lazy";
  /** A lazy server, and a session's own one, ends after this long without a call. */
  readonly idleStopMs: number;
  /**
   * Which eras are spoken; `auto`: what the server speaks, and towards one that speaks both what the caller can be
   * asked in.
   */
  readonly era: EraChoice;
  /** A further connection costs no process. */
  readonly opensCheaply: boolean;
  /** When a server of both eras gets a second process. Has no effect where a further connection costs no process. */
  readonly legacyProcess: LegacyProcess;
  /**
   * `auto`: once the server asked without saying whom, each further principal gets a server of its own. `shared`:
   * nobody does. `session`: each lasting connection of a caller gets one, with that caller's capabilities.
   */
  readonly isolation: "auto" | "shared" | "session";
  /** Servers beside the first. */
  readonly maxSessions: number;
  /** What `roots/list` is answered with outside a call: `{uri, name?}`. */
  readonly roots: readonly JsonObject[];
  readonly connectTimeoutMs: number;
  /** After a failed attempt to connect, who asks within this time gets its failure. @default 500 */
  readonly retryFloorMs?: number | undefined;
  /** Log messages are asked for from this level on; absent: what the server sends by itself. */
  readonly logLevel?: string;
}

export interface UpstreamDeps {
  readonly logger: Logger;
  /**
   * The era of the first caller, where that is known before anybody calls; an eager start waits for it. @default
   * nothing is waited for
   */
  readonly firstCallerEra?: Promise<EraName | undefined>;
  /** Counts requests over all connections. @default each connection counts its own */
  readonly requestIds?: RequestIds | undefined;
  /** @default CONNECT_GATE */
  readonly gate?: Gate;
  /** Where a start may download. @default none does */
  readonly installer?: Installer | undefined;
  /** Where the last known listing is kept; absent: nowhere. */
  readonly cache?: ListingStore;
  /** How long after `open()` a list waits for the first one. @default 5000 */
  readonly coldWaitMs?: number;
  /** A server that timed out in silence hangs if it does not answer a ping for this long. @default 10,000 */
  readonly pulseMs?: number;
}

export interface UpstreamEvents {
  readonly changed: Emitter<void>;
  readonly announced: Emitter<ListAnnouncement>;
  readonly resourceUpdated: Emitter<ResourceUpdate>;
  readonly log: Emitter<LogMessage>;
}
