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
  /** Id of the source, which is stored with the tasks of its server. @default "" */
  readonly source?: string;
  readonly openTransport: OpenTransport;
  /** Name and version of the hub, as sent to the server. */
  readonly clientInfo: Implementation;
  /** `eager`: connected at the start and kept connected. `lazy`: connected on demand. */
  readonly start: "eager" | "lazy";
  /** Idle time after which a lazy server, or a session's own server, ends. */
  readonly idleStopMs: number;
  /**
   * Eras that may be used. `auto`: the server's era; with a server of both eras, the one in which the server can send
   * requests to the caller.
   */
  readonly era: EraChoice;
  /** Revision that `initialize` names first. Absent: the newest. */
  readonly protocolVersion?: string | undefined;
  /** True if another connection needs no process. */
  readonly opensCheaply: boolean;
  /**
   * Condition under which a server of both eras gets a second process. Has no effect if another connection needs no
   * process.
   */
  readonly legacyProcess: LegacyProcess;
  /**
   * `auto`: after the server has sent a request without naming a call, each further principal gets its own server.
   * `shared`: one server for all. `session`: each lasting connection of a caller gets its own server, with that
   * caller's capabilities.
   */
  readonly isolation: "auto" | "shared" | "session";
  /** Maximum number of servers in addition to the first. */
  readonly maxSessions: number;
  /** Roots with which the hub answers `roots/list` outside a call: `{uri, name?}`. */
  readonly roots: readonly JsonObject[];
  readonly connectTimeoutMs: number;
  /** Time after a failed attempt to connect during which callers get its failure. @default 500 */
  readonly retryFloorMs?: number | undefined;
  /** Lowest level of requested log messages; absent: the server chooses. */
  readonly logLevel?: string;
}

export interface UpstreamDeps {
  readonly logger: Logger;
  /**
   * Resolves with the era of the first caller, if it is known before the first call. An eager start waits for it.
   * @default no wait
   */
  readonly firstCallerEra?: Promise<EraName | undefined>;
  /** Counter of request ids for all connections. @default each connection has its own */
  readonly requestIds?: RequestIds | undefined;
  /** Limits concurrent starts. @default CONNECT_GATE */
  readonly gate?: Gate;
  /** Present if starting the server may download packages. @default no download */
  readonly installer?: Installer | undefined;
  /** Storage of the last known listing; absent: it is not stored. */
  readonly cache?: ListingStore;
  /** Maximum wait of a list for the first listing, from `open()`, in milliseconds. @default 5000 */
  readonly coldWaitMs?: number;
  /**
   * Time in milliseconds without an answer to a ping after which a server counts as hanging, if a call has timed out
   * before.
   * @default 10,000
   */
  readonly pulseMs?: number;
}

export interface UpstreamEvents {
  readonly changed: Emitter<void>;
  readonly announced: Emitter<ListAnnouncement>;
  readonly resourceUpdated: Emitter<ResourceUpdate>;
  readonly log: Emitter<LogMessage>;
}
