import type { Client, Principal, ToolMode } from "../../core/calls/call.ts";

/** State of one legacy session as plain data, usable in any process. */
export interface SessionRecord {
  /** Principal of the session, with the rights of its latest message. */
  readonly principal: Principal;
  /** Client of the handshake. */
  readonly client: Client;
  /** Date of the negotiated revision. */
  readonly revision: string;
  readonly mode: ToolMode;
  /** Log level. Absent: the client requested none. */
  readonly logLevel?: string;
  /** URIs of the subscribed resources. */
  readonly subscriptions: readonly string[];
}

/** A session, and the hub that has its streams and running calls. */
export interface HeldSession {
  readonly hub: string;
  readonly record: SessionRecord;
}

/**
 * Sessions on every hub, by session id. A record lasts as long as its hub's lease. Writing never throws: an unreachable
 * store is logged.
 */
export interface SessionRecords {
  /** Stores the record for this hub, and replaces an earlier one. */
  put(id: string, record: SessionRecord): void;
  find(id: string): HeldSession | undefined | Promise<HeldSession | undefined>;
  /** Removes the record of a session that has ended. */
  remove(id: string): void;
}
