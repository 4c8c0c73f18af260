import type { Sections } from "../../core/options/option-schema.ts";
import { serviceKey } from "../../core/service-key.ts";
import type { AuthState } from "./auth-state.ts";
import type { EventLog, EventLogLimits } from "./event-log.ts";
import type { LimitStore } from "./limit-store.ts";
import type { Logger } from "../../core/ports/ports.ts";
import type { Tracing } from "../../core/ports/tracing.ts";
import type { HubNotifications } from "./hub-notifications.ts";
import type { OneTimeIds } from "./one-time-ids.ts";
import type { ParkedDirectory } from "./parked-directory.ts";
import type { Peers } from "./peers.ts";
import type { SharedVault } from "./shared-vault.ts";
import type { SharedQueues } from "./shared-queues.ts";
import type { SessionRecords } from "./session-records.ts";

/** Key of the service with the state that this hub shares with the other hubs of its store. */
export const STATE = serviceKey<HubState>()("state");

/** Milliseconds without a renewal after which a hub of the memory store counts as exited. */
export const LEASE_MS = 30_000;

/** Error of a read while the store cannot be reached, or may not have its data back yet. The caller may retry. */
export class StoreLostError extends Error {
  override readonly name = "StoreLostError";

  constructor(options?: ErrorOptions) {
    super("The shared store cannot be reached.", options);
  }
}

/** State that hubs share. Several hubs may join one store. */
export interface Store {
  /** Adds a hub with a unique id. Rejects if the store cannot be reached. */
  join(hub: string): HubState | Promise<HubState>;
}

/** A kind of store. Each kind is in a separate folder. */
export interface StoreKind {
  /** Sections of the configuration that the store reads. @default none */
  readonly schema?: Sections;
  /**
   * Opens the store that a configuration requests. Returns `undefined` if it requests another kind. Throws an
   * `OptionError`.
   */
  open(config: object, services: StoreServices): Store | undefined;
}

/** Parts of the program that a store needs. */
export interface StoreServices {
  /** Imports the client of Redis. Rejects with a `FailError` if the extra `redis` is not installed. */
  readonly importRedis: () => Promise<unknown>;
  /** Variables of the program, one of which has the key of the hubs. @default none */
  readonly variables?: Readonly<Record<string, string | undefined>> | undefined;
  /** Receiver of messages about a store that is lost or back. @default none */
  readonly logger?: Pick<Logger, "info" | "warning"> | undefined;
}

/** Kinds of stores by name. The first one that a configuration requests is opened. */
export type StoreKinds = Readonly<Record<string, StoreKind>>;

/** State of one hub: its counts and records, and its view of the other hubs. */
export interface HubState {
  readonly hub: string;
  /** Milliseconds without a renewal after which this hub counts as exited. Its counts then do not apply. */
  readonly leaseMs: number;
  readonly limits: LimitStore;
  readonly sessions: SessionRecords;
  readonly parked: ParkedDirectory;
  readonly notifications: HubNotifications;
  /** Ids that may be used once. Absent if only this process uses the store. */
  readonly oneTimeIds?: OneTimeIds;
  /**
   * Opens the state of the authorization server, encrypted with a key that all hubs have. Absent if the state is on the
   * disk of this hub. Rejects with a `StoreLostError`, and with an `OptionError` if other hubs have another key.
   * Opening writes nothing: a command with a wrong key must not bind an empty store to it. The first write does.
   */
  openAuthState?(key: Uint8Array): Promise<AuthState>;
  /**
   * Opens the vault of all hubs of the store, encrypted with a key that all hubs have. Absent if the vault is on the
   * disk of this hub. Rejects like `openAuthState`.
   */
  openVault?(key: Uint8Array): Promise<SharedVault>;
  /** Access for tasks and queued work. Absent if the store has no hubs of other processes. */
  readonly queues?: SharedQueues;
  /** The other hubs. Absent if only this process uses the store. */
  readonly peers?: Peers;
  /** Current time of the store's clock, in milliseconds since 1970. @default the time of this machine */
  readonly now?: number;
  /** True while the store cannot be reached. @default false */
  readonly isLost?: boolean;
  /** True if calls with a limit are refused while the store cannot be reached. @default false */
  readonly refusesOnLoss?: boolean;
  /** Milliseconds for which a hub that ends waits for running calls. @default the time of the server */
  readonly drainMs?: number;
  /**
   * Secret of 32 bytes, the same for all hubs of the store. It signs codes that one hub issues and another hub
   * verifies. If the hubs have a key, a reader of the store does not know the secret. Another array replaces it if the
   * store lost its data and got a secret from another hub.
   */
  readonly secret: Uint8Array;
  /** Sets the receiver of messages about a store that is lost or back. Absent if the store cannot be lost. */
  reportTo?(logger: Pick<Logger, "info" | "warning">): void;
  /**
   * Records a span for each access to the store during a call, from now on. Absent if the store is in this process.
   */
  traceWith?(tracing: Tracing): void;
  /** Opens the event log for the sessions of one endpoint. */
  openEventLog(limits: EventLogLimits): EventLog;
  /** Renews the lease for another `leaseMs`. Never throws. */
  renew(): void;
  /** Resolves when other hubs can see everything that this hub has written. Never rejects. */
  flush(): Promise<void>;
  /** Removes the hub. Its counts and records are released immediately. */
  leave(): Promise<void>;
}
