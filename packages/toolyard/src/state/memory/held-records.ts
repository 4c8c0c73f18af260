import { Emitter } from "../../core/events.ts";
import type { ParkedDirectory, ParkedHolder } from "../ports/parked-directory.ts";
import type { HeldSession, SessionRecord, SessionRecords } from "../ports/session-records.ts";
import { isAlive, type HubMember } from "./membership.ts";

interface HeldRecord<Value> {
  /** Hub that holds the value. Absent after it has released the value. */
  readonly member: HubMember | undefined;
  readonly value: Value;
}

/** Milliseconds for which a value outlives its hub. */
const KEEP_MS = 3_600_000;

/** Values by id. Each is held by one hub, and outlives it for a limited time. */
export class HeldTable<Value> {
  readonly #byId = new Map<string, HeldRecord<Value>>();

  put(member: HubMember, id: string, value: Value): boolean {
    const held = this.#byId.get(id);
    if (held && held.member !== member) return false;
    this.#byId.set(id, { member, value });
    return true;
  }

  find(id: string): HeldRecord<Value> | undefined {
    return this.#byId.get(id);
  }

  claim(member: HubMember, id: string, from: string): HeldRecord<Value> | undefined {
    const held = this.#byId.get(id);
    if (!held || (held.member?.hub ?? "") !== from) return undefined;
    this.#byId.set(id, { member, value: held.value });
    return held;
  }

  release(member: HubMember, id: string): void {
    const held = this.#byId.get(id);
    if (held?.member === member) this.#byId.set(id, { member: undefined, value: held.value });
  }

  remove(member: HubMember, id: string): void {
    if (this.#byId.get(id)?.member === member) this.#byId.delete(id);
  }

  /** Removes the values of hubs that have not been alive for a long time. */
  sweep(now: number): void {
    for (const [id, { member }] of this.#byId)
      if (member && !member.hasLeft && !isAlive(member, now - KEEP_MS)) this.#byId.delete(id);
  }
}

function isHolderAlive({ member }: HeldRecord<unknown>): boolean {
  return member !== undefined && isAlive(member, performance.now());
}

/** Directory of all sessions. Adds and removes the entries of one hub. */
export class MemorySessionRecords implements SessionRecords {
  readonly #table: HeldTable<SessionRecord>;
  readonly #member: HubMember;
  readonly #taken = new Emitter<string>();

  constructor(table: HeldTable<SessionRecord>, member: HubMember) {
    this.#table = table;
    this.#member = member;
  }

  put(id: string, record: SessionRecord): void {
    if (!this.#table.put(this.#member, id, record)) this.#taken.emit(id);
  }

  find(id: string): HeldSession | undefined {
    const held = this.#table.find(id);
    return held && { hub: held.member?.hub ?? "", isAlive: isHolderAlive(held), record: held.value };
  }

  claim(id: string, from: string): SessionRecord | undefined {
    return this.#table.claim(this.#member, id, from)?.value;
  }

  release(id: string): void {
    this.#table.release(this.#member, id);
  }

  remove(id: string): void {
    this.#table.remove(this.#member, id);
  }

  onTaken(listener: (id: string) => void): () => void {
    return this.#taken.on(listener);
  }
}

/** Directory of all parked calls. Adds and removes the entries of one hub. */
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

  find(id: string): ParkedHolder | undefined {
    const held = this.#table.find(id);
    return held && { hub: held.member?.hub ?? "", isAlive: isHolderAlive(held) };
  }

  remove(id: string): void {
    this.#table.remove(this.#member, id);
  }
}
