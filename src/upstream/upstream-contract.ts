import type { Emitter } from "../core/events.ts";
import type { JsonObject } from "../core/json.ts";
import type { Logger } from "../core/ports.ts";
import type { Implementation } from "./era.ts";
import type { Gate } from "./gate.ts";
import type { ListingCache } from "./listing-cache.ts";
import type { OpenTransport } from "./transport.ts";

export interface UpstreamOptions {
  readonly openTransport: OpenTransport;
  /** Who the hub is towards the server. */
  readonly clientInfo: Implementation;
  /** `eager`: connected from the start and kept so. `lazy`: connected when it is needed. */
  readonly start: "eager" | "lazy";
  /** A lazy server, and a session's own one, ends after this long without a call. */
  readonly idleStopMs: number;
  /** `session`: each lasting connection of a caller gets a server of its own, with that caller's capabilities. */
  readonly isolation: "shared" | "session";
  readonly maxSessions: number;
  /** What `roots/list` is answered with outside a call: `{uri, name?}`. */
  readonly roots: readonly JsonObject[];
  readonly connectTimeoutMs: number;
  /** Log messages are asked for from this level on; absent: what the server sends by itself. */
  readonly logLevel?: string;
}

export interface UpstreamDeps {
  readonly logger: Logger;
  /** @default CONNECT_GATE */
  readonly gate?: Gate;
  /** Where the last known listing is kept; absent: nowhere. */
  readonly cache?: ListingCache;
  /** A server that timed out in silence hangs if it does not answer a ping for this long. @default 10,000 */
  readonly pulseMs?: number;
}

export interface UpstreamEvents {
  readonly changed: Emitter<void>;
  readonly resourceUpdated: Emitter<{ readonly uri: string; readonly params: JsonObject }>;
  readonly log: Emitter<JsonObject>;
}
