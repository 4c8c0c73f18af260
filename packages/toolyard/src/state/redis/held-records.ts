import { parseExact, stringifyExact } from "../../core/json/exact-json.ts";
import { Emitter } from "../../core/events.ts";
import type { ParkedDirectory, ParkedHolder } from "../ports/parked-directory.ts";
import type { HeldSession, SessionRecord, SessionRecords } from "../ports/session-records.ts";
import { StoreLostError } from "../ports/store.ts";
import { defineScript } from "../ports/shared-queues.ts";
import type { HubLeases, LeaseParts } from "./leases.ts";

interface HeldParts extends LeaseParts {
  readonly leases: HubLeases;
}

/** Value, and the id of the hub that holds it. */
interface HeldEntry {
  readonly hub: string;
  readonly value: unknown;
}

/** Milliseconds after which a key expires unless its hub writes it again. */
const KEY_TTL_MS = 3_600_000;
/** Maximum number of ids that are remembered until the store is back. */
const MAX_PENDING = 10_000;
/** Milliseconds between two renewals of all keys. Far more than a lease, because a hub may have 10,000 sessions. */
const REFRESH_MS = KEY_TTL_MS / 3;

/** Arguments: hub, value, TTL. Returns 0 without a change if another hub holds the value or it was released. */
const PUT = defineScript(`
local holder = redis.call('HGET', KEYS[1], 'h')
if holder and holder ~= ARGV[1] then return 0 end
redis.call('HSET', KEYS[1], 'h', ARGV[1], 'v', ARGV[2])
redis.call('PEXPIRE', KEYS[1], ARGV[3])
return 1
`);

/** Arguments: hub, expected holder, TTL. Returns the value, or nothing if the holder is another hub. */
const CLAIM = defineScript(`
if redis.call('HGET', KEYS[1], 'h') ~= ARGV[2] then return false end
redis.call('HSET', KEYS[1], 'h', ARGV[1])
redis.call('PEXPIRE', KEYS[1], ARGV[3])
return redis.call('HGET', KEYS[1], 'v')
`);

/** Arguments: hub, TTL. Keeps the value without a holder. */
const RELEASE = defineScript(`
if redis.call('HGET', KEYS[1], 'h') ~= ARGV[1] then return 0 end
redis.call('HSET', KEYS[1], 'h', '')
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return 1
`);

/** Arguments: hub. */
const REMOVE = defineScript(`
if redis.call('HGET', KEYS[1], 'h') ~= ARGV[1] then return 0 end
return redis.call('DEL', KEYS[1])
`);

/**
 * Values by id, one hash each: `h` the hub, `v` the value. A value outlives its hub for a limited time. A hub also
 * keeps its own values, to renew their keys and to restore them after the store lost its data.
 */
export class HeldKeys {
  /** Emits the ids of own values that another hub has claimed. */
  readonly taken = new Emitter<string>();
  readonly #parts: HeldParts;
  readonly #own = new Map<string, string>();
  /** Ids that were released or removed while the store was lost. */
  readonly #pending = new Map<string, "release" | "remove">();
  #refreshedAt = performance.now();

  constructor(parts: HeldParts) {
    this.#parts = parts;
  }

  put(id: string, value: unknown): void | Promise<void> {
    const text = stringifyExact(value);
    this.#own.set(id, text);
    this.#pending.delete(id);
    return this.#parts.connection.isLost ? undefined : this.#write(id, text);
  }

  /** Finds a value. Rejects with a `StoreLostError`. */
  async find(id: string): Promise<HeldEntry | undefined> {
    const own = this.#own.get(id);
    const { hub, connection } = this.#parts;
    if (own !== undefined) return { hub, value: parseExact(own) };
    const [holder, text] = (await this.#ask(connection.command("HMGET", this.#keyOf(id), "h", "v"))) as unknown[];
    if (typeof holder === "string" && typeof text === "string") return { hub: holder, value: parseExact(text) };
    if (connection.isRecovering) throw new StoreLostError();
    return undefined;
  }

  async isAlive(hub: string): Promise<boolean> {
    return (await this.#parts.leases.find(hub)) !== undefined;
  }

  /** Takes a value over. Returns it, or `undefined` if another hub holds it now. Rejects with a `StoreLostError`. */
  async claim(id: string, from: string): Promise<unknown> {
    const { hub, connection } = this.#parts;
    const text = await this.#ask(connection.run(CLAIM, this.#keyOf(id), hub, from, KEY_TTL_MS));
    if (typeof text !== "string") return undefined;
    this.#own.set(id, text);
    return parseExact(text);
  }

  /** Keeps a value without a holder. */
  giveUp(id: string): void {
    if (this.#own.delete(id)) this.#end(id, "release");
  }

  remove(id: string): void {
    if (this.#own.delete(id)) this.#end(id, "remove");
  }

  /** Renews the keys if enough time has passed. */
  renew(): void {
    if (performance.now() - this.#refreshedAt >= REFRESH_MS) this.restore();
  }

  /** Writes all values again, and applies the releases and removals that failed while the store was lost. */
  restore(): void {
    this.#refreshedAt = performance.now();
    const pending = Array.from(this.#pending);
    this.#pending.clear();
    for (const [id, how] of pending) this.#end(id, how);
    for (const [id, text] of this.#own) void this.#write(id, text);
  }

  #end(id: string, how: "release" | "remove"): void {
    const { hub, connection } = this.#parts;
    if (connection.isLost) return void (this.#pending.size < MAX_PENDING && this.#pending.set(id, how));
    const key = this.#keyOf(id);
    const ran = how === "remove" ? connection.run(REMOVE, key, hub) : connection.run(RELEASE, key, hub, KEY_TTL_MS);
    void connection.write(ran);
  }

  get ids(): readonly string[] {
    return Array.from(this.#own.keys());
  }

  #write(id: string, text: string): Promise<void> {
    const { hub, connection } = this.#parts;
    const writing = connection.run(PUT, this.#keyOf(id), hub, text, KEY_TTL_MS).then((stored) => {
      // The lease had expired, and another hub has taken the value over.
      if (stored === 0 && this.#own.delete(id)) this.taken.emit(id);
    });
    return connection.write(writing);
  }

  async #ask(answer: Promise<unknown>): Promise<unknown> {
    try {
      if (this.#parts.connection.isLost) throw new StoreLostError();
      return await answer;
    } catch (error) {
      answer.catch(() => {});
      throw error instanceof StoreLostError ? error : new StoreLostError({ cause: error });
    }
  }

  #keyOf(id: string): string {
    return `${this.#parts.prefix}{${id}}`;
  }
}

/** Directory of all sessions. Adds and removes the entries of one hub. */
export class RedisSessionRecords implements SessionRecords {
  readonly keys: HeldKeys;

  constructor(parts: HeldParts) {
    this.keys = new HeldKeys(parts);
  }

  put(id: string, record: SessionRecord): void | Promise<void> {
    return this.keys.put(id, record);
  }

  async find(id: string): Promise<HeldSession | undefined> {
    const held = await this.keys.find(id);
    return held && { hub: held.hub, isAlive: await this.keys.isAlive(held.hub), record: held.value as SessionRecord };
  }

  async claim(id: string, from: string): Promise<SessionRecord | undefined> {
    return (await this.keys.claim(id, from)) as SessionRecord | undefined;
  }

  release(id: string): void {
    this.keys.giveUp(id);
  }

  remove(id: string): void {
    this.keys.remove(id);
  }

  onTaken(listener: (id: string) => void): () => void {
    return this.keys.taken.on(listener);
  }
}

/** Directory of all parked calls. Adds and removes the entries of one hub. */
export class RedisParkedDirectory implements ParkedDirectory {
  readonly keys: HeldKeys;

  constructor(parts: HeldParts) {
    this.keys = new HeldKeys(parts);
  }

  put(id: string): void | Promise<void> {
    return this.keys.put(id, true);
  }

  async find(id: string): Promise<ParkedHolder | undefined> {
    const held = await this.keys.find(id);
    return held && { hub: held.hub, isAlive: await this.keys.isAlive(held.hub) };
  }

  remove(id: string): void {
    this.keys.remove(id);
  }
}
