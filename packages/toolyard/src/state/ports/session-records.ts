import type { Client, Principal, ToolMode } from "../../core/calls/call.ts";

/** What is known of one session of the legacy era: plain data, without anything that only one process could use. */
export interface SessionRecord {
  /** Whose it is, with the rights that its last message came with. */
  readonly principal: Principal;
  /** As the handshake said. */
  readonly client: Client;
  /** Date of the revision that was agreed on. */
  readonly revision: string;
  readonly mode: ToolMode;
  /** Absent: the client asked for no level. */
  readonly logLevel?: string;
  /** URIs of the resources that it wants to hear of. */
  readonly subscriptions: readonly string[];
}

/** A session, and the hub that has its streams and the calls that run in it. */
export interface HeldSession {
  readonly hub: string;
  readonly record: SessionRecord;
}

/**
 * The sessions of all hubs, by the id that clients know. A record is there as long as its hub's lease. Writing never
 * throws: a store that cannot be reached says so in the log.
 */
export interface SessionRecords {
  /** Keeps the record for this hub, in place of what was known of that session. */
  put(id: string, record: SessionRecord): void;
  find(id: string): HeldSession | undefined | Promise<HeldSession | undefined>;
  /** The session is over. */
  remove(id: string): void;
}
