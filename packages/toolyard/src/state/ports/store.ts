import type { Sections } from "../../core/options/option-schema.ts";
import { serviceKey } from "../../core/service-key.ts";
import type { EventLog, EventLogLimits } from "./event-log.ts";
import type { LimitStore } from "./limit-store.ts";
import type { HubNotifications } from "./hub-notifications.ts";
import type { ParkedDirectory } from "./parked-directory.ts";
import type { SessionRecords } from "./session-records.ts";

/** The state of this hub, for the parts of the hub that share it with others. */
export const STATE = serviceKey<HubState>()("state");

/** A hub that has not renewed its lease for this time has exited; its counts no longer apply. */
export const LEASE_MS = 30_000;

/** State that hubs share. Several hubs may join one store. */
export interface Store {
  /** A hub begins. Its id is unlike that of any other. Rejects when the store cannot be reached. */
  join(hub: string): HubState | Promise<HubState>;
}

/** One kind of store, in a separate folder. */
export interface StoreKind {
  /** Its sections of the configuration. @default none */
  readonly schema?: Sections;
  /** Opens the store that a configuration asks for; nothing where it asks for another. Throws an `OptionError`. */
  open(config: object): Store | undefined;
}

/** Kinds of stores by name; the first that a configuration asks for is opened. */
export type StoreKinds = Readonly<Record<string, StoreKind>>;

/** The state of one hub: its counts and records, and its view of the others. */
export interface HubState {
  readonly hub: string;
  readonly limits: LimitStore;
  readonly sessions: SessionRecords;
  readonly parked: ParkedDirectory;
  readonly notifications: HubNotifications;
  /** The same for all hubs of the store: signs codes that one hub issues and another verifies. 32 bytes. */
  readonly secret: Uint8Array;
  /** The events of one endpoint's sessions. */
  openEventLog(limits: EventLogLimits): EventLog;
  /** Renews the lease for another `LEASE_MS`. Never throws. */
  renew(): void;
  /** The hub ends; its counts and records are released immediately. */
  leave(): Promise<void>;
}
