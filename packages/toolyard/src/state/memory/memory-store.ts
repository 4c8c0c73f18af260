import { randomBytes } from "node:crypto";
import { Emitter } from "../../core/events.ts";
import type { EventLog, EventLogLimits } from "../ports/event-log.ts";
import type { HubNotification, HubNotifications } from "../ports/hub-notifications.ts";
import type { Peers } from "../ports/peers.ts";
import type { SessionRecord } from "../ports/session-records.ts";
import { LEASE_MS, type HubState, type Store } from "../ports/store.ts";
import { MemoryEventLog } from "./event-log.ts";
import { HeldTable, MemoryParkedDirectory, MemorySessionRecords } from "./held-records.ts";
import { LimitTable, MemoryLimitStore } from "./limit-table.ts";
import { createMember, type HubMember } from "./membership.ts";

/** State that the hubs of a store share. */
interface Tables {
  readonly limits: LimitTable;
  readonly sessions: HeldTable<SessionRecord>;
  readonly parked: HeldTable<true>;
  readonly notifications: Emitter<HubNotification>;
  readonly secret: Uint8Array;
  readonly sharing: MemorySharing | undefined;
}

/** Parts of a store with hubs that pass requests to each other. */
export interface MemorySharing {
  peersFor(member: HubMember): Peers;
  openEventLog(limits: EventLogLimits): EventLog;
}

/** State that lives as long as this process, for one or several hubs in it. */
export class MemoryStore implements Store {
  readonly #tables: Tables;

  /** `sharing` is absent if the hubs do not pass requests to each other. */
  constructor(sharing?: MemorySharing) {
    this.#tables = {
      limits: new LimitTable(),
      sessions: new HeldTable(),
      parked: new HeldTable(),
      notifications: new Emitter(),
      secret: randomBytes(32),
      sharing,
    };
  }

  join(hub: string): HubState {
    return new MemoryHubState(this.#tables, createMember(hub));
  }
}

class MemoryHubState implements HubState {
  readonly hub: string;
  readonly leaseMs = LEASE_MS;
  readonly limits: MemoryLimitStore;
  readonly sessions: MemorySessionRecords;
  readonly parked: MemoryParkedDirectory;
  readonly notifications: HubNotifications;
  readonly secret: Uint8Array;
  declare readonly peers?: Peers;
  readonly #tables: Tables;
  readonly #member: HubMember;

  constructor(tables: Tables, member: HubMember) {
    this.hub = member.hub;
    this.limits = new MemoryLimitStore(tables.limits, member);
    this.sessions = new MemorySessionRecords(tables.sessions, member);
    this.parked = new MemoryParkedDirectory(tables.parked, member);
    this.notifications = {
      publish: (notification) => tables.notifications.emit(notification),
      on: (listener) => tables.notifications.on(listener),
    };
    this.secret = tables.secret;
    if (tables.sharing) this.peers = tables.sharing.peersFor(member);
    this.#tables = tables;
    this.#member = member;
  }

  openEventLog(limits: EventLogLimits): EventLog {
    return this.#tables.sharing?.openEventLog(limits) ?? new MemoryEventLog(limits);
  }

  renew(): void {
    this.#member.seenAt = performance.now();
    this.#dropTheDead();
  }

  async flush(): Promise<void> {}

  async leave(): Promise<void> {
    this.#member.hasLeft = true;
    this.#dropTheDead();
  }

  #dropTheDead(): void {
    const now = performance.now();
    this.#tables.sessions.sweep(now);
    this.#tables.parked.sweep(now);
  }
}
