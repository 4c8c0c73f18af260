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
  /** True after the client has sent `initialized`. @default false */
  readonly isInitialized?: boolean;
  /** Log level. Absent: the client requested none. */
  readonly logLevel?: string;
  /** URIs of the subscribed resources. */
  readonly subscriptions: readonly string[];
}

/** A session, and the hub that has its streams and running calls. */
export interface HeldSession {
  /** Id of the hub. Empty if the hub has released the session. */
  readonly hub: string;
  /** False if the hub has released the session, or its lease has expired. The session may then be claimed. */
  readonly isAlive: boolean;
  readonly record: SessionRecord;
}

/**
 * Sessions on every hub, by session id. A record outlives its hub, so that another hub can take the session over.
 * Writing never throws: an unreachable store is logged.
 */
export interface SessionRecords {
  /**
   * Stores the record for this hub, and replaces an earlier one. Has no effect if another hub has claimed the session.
   * Returns a promise that resolves when other hubs can see the record, or the store is lost.
   */
  put(id: string, record: SessionRecord): void | Promise<void>;
  /** Finds a session. Rejects with a `StoreLostError` if the store cannot answer. */
  find(id: string): HeldSession | undefined | Promise<HeldSession | undefined>;
  /**
   * Takes a session over from the hub `from` in one step. Returns the record, or `undefined` if another hub holds the
   * session now. Rejects with a `StoreLostError`.
   */
  claim(id: string, from: string): SessionRecord | undefined | Promise<SessionRecord | undefined>;
  /** Keeps the record without a hub, so that any hub can claim the session. */
  release(id: string): void;
  /** Removes the record of a session that has ended. */
  remove(id: string): void;
  /** Adds a listener for sessions of this hub that another hub has claimed. The returned function removes it. */
  onTaken(listener: (id: string) => void): () => void;
}
