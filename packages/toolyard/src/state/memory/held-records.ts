import type { ParkedDirectory } from "../ports/parked-directory.ts";
import type { HeldSession, SessionRecord, SessionRecords } from "../ports/session-records.ts";
import { isAlive, type HubMember } from "./membership.ts";

interface HeldRecord<Value> {
  readonly member: HubMember;
  readonly value: Value;
}

/** Values by id. Each is held by one hub, and exists as long as that hub is alive. */
export class HeldTable<Value> {
  readonly #byId = new Map<string, HeldRecord<Value>>();

  put(member: HubMember, id: string, value: Value): void {
    this.#byId.set(id, { member, value });
  }

  find(id: string): HeldRecord<Value> | undefined {
    const held = this.#byId.get(id);
    if (!held || isAlive(held.member, performance.now())) return held;
    this.#byId.delete(id);
    return undefined;
  }

  remove(id: string): void {
    this.#byId.delete(id);
  }

  /** Removes the values of hubs that are not alive. */
  sweep(now: number): void {
    for (const [id, { member }] of this.#byId) if (!isAlive(member, now)) this.#byId.delete(id);
  }
}

/** Directory of the sessions of all hubs. Adds and removes entries of one hub. */
export class MemorySessionRecords implements SessionRecords {
  readonly #table: HeldTable<SessionRecord>;
  readonly #member: HubMember;

  constructor(table: HeldTable<SessionRecord>, member: HubMember) {
    this.#table = table;
    this.#member = member;
  }

  put(id: string, record: SessionRecord): void {
    this.#table.put(this.#member, id, record);
  }

  find(id: string): HeldSession | undefined {
    const held = this.#table.find(id);
    return held && { hub: held.member.hub, record: held.value };
  }

  remove(id: string): void {
    this.#table.remove(id);
  }
}

/** Directory of the parked calls of all hubs. Adds and removes entries of one hub. */
export class MemoryParkedDirectory implements ParkedDirectory {
  readonly #table: HeldTable<true>;
  readonly #member: HubMember;

  constructor(table: HeldTable<true>, member: HubMember) {
    this.#table = table;
    this.#member = member;
  }

  put(id: string): void {
    this.#table.put(this.#member, id, true);
  }

  find(id: string): string | undefined {
    return this.#table.find(id)?.member.hub;
  }

  remove(id: string): void {
    this.#table.remove(id);
  }
}
