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
  /** Name and version of the hub for the server. */
  readonly clientInfo: Implementation;
  /** `eager`: connected from the start and kept so. `lazy`: connected on demand. */
  readonly start: "eager" | "lazy";
  /** Idle time after which a lazy server, and a session's own one, ends. */
  readonly idleStopMs: number;
  /**
   * The eras that are used; `auto`: the server's, and with a server of both eras the one in which the caller can be
   * asked.
   */
  readonly era: EraChoice;
  /** Revision that `initialize` names first. Absent: the newest. */
  readonly protocolVersion?: string | undefined;
  /** A further connection needs no process. */
  readonly opensCheaply: boolean;
  /** When a server of both eras gets a second process. Has no effect if a further connection needs no process. */
  readonly legacyProcess: LegacyProcess;
  /**
   * `auto`: once the server has sent a request without naming a call, each further principal gets its own server.
   * `shared`: one server for all. `session`: each lasting connection of a caller gets one, with that caller's
   * capabilities.
   */
  readonly isolation: "auto" | "shared" | "session";
  /** Most servers besides the first. */
  readonly maxSessions: number;
  /** Answer to `roots/list` outside a call: `{uri, name?}`. */
  readonly roots: readonly JsonObject[];
  readonly connectTimeoutMs: number;
  /** For this long after a failed attempt to connect, callers get its failure. @default 500 */
  readonly retryFloorMs?: number | undefined;
  /** Lowest level of requested log messages; absent: the server's own choice. */
  readonly logLevel?: string;
}

export interface UpstreamDeps {
  readonly logger: Logger;
  /**
   * The era of the first caller, if it is known before the first call; an eager start waits for it. @default no wait
   */
  readonly firstCallerEra?: Promise<EraName | undefined>;
  /** Counts requests over all connections. @default each connection counts its own */
  readonly requestIds?: RequestIds | undefined;
  /** @default CONNECT_GATE */
  readonly gate?: Gate;
  /** Present if a start may download. @default no download */
  readonly installer?: Installer | undefined;
  /** Storage of the last known listing; absent: it is not kept. */
  readonly cache?: ListingStore;
  /** Longest wait of a list for the first listing, from `open()`. @default 5000 */
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
