import type { Client, Principal, ToolMode } from "../../core/calls/call.ts";

/** State of one legacy session as plain data, usable in any process. */
export interface SessionRecord {
  /** Its principal, with the rights of its latest message. */
  readonly principal: Principal;
  /** The client of the handshake. */
  readonly client: Client;
  /** Date of the revision that was agreed on. */
  readonly revision: string;
  readonly mode: ToolMode;
  /** Absent: the client asked for no level. */
  readonly logLevel?: string;
  /** URIs of the subscribed resources. */
  readonly subscriptions: readonly string[];
}

/** A session, and the hub that has its streams and the calls that run in it. */
export interface HeldSession {
  readonly hub: string;
  readonly record: SessionRecord;
}

/**
 * Every hub's sessions, by session id. A record lasts as long as its hub's lease. Writing never throws: an unreachable
 * store is logged.
 */
export interface SessionRecords {
  /** Stores the record for this hub, and replaces an earlier one. */
  put(id: string, record: SessionRecord): void;
  find(id: string): HeldSession | undefined | Promise<HeldSession | undefined>;
  /** The session is over. */
  remove(id: string): void;
}
