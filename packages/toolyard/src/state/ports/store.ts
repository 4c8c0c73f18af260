import type { EventLog, EventLogLimits } from "./event-log.ts";
import type { LimitStore } from "./limit-store.ts";
import type { Notices } from "./notices.ts";
import type { ParkedDirectory } from "./parked-directory.ts";
import type { SessionRecords } from "./session-records.ts";

/** What a hub that says nothing for so long has held counts no longer. */
export const LEASE_MS = 30_000;

/** Where hubs keep what they share. Several may join one store. */
export interface Store {
  /** A hub begins. Its id is unlike that of any other. Rejects when the store cannot be reached. */
  join(hub: string): HubState | Promise<HubState>;
}

/** The state of one hub: what it counts and holds, and what it sees of the others. */
export interface HubState {
  readonly hub: string;
  readonly limits: LimitStore;
  readonly sessions: SessionRecords;
  readonly parked: ParkedDirectory;
  readonly notices: Notices;
  /** The same for all hubs of the store, for codes that one of them gives out and another one checks. 32 bytes. */
  readonly secret: Uint8Array;
  /** The events of one door's sessions. */
  openEventLog(limits: EventLogLimits): EventLog;
  /** Says that this hub lives, for another `LEASE_MS`. Never throws. */
  renew(): void;
  /** The hub ends: what it held is free at once. */
  leave(): Promise<void>;
}
