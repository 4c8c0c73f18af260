import { parseExact, stringifyExact } from "../../../core/json/exact-json.ts";
import { isJsonObject, stringMember, type JsonObject } from "../../../core/json/json.ts";
import {
  GrantRevokedError,
  type AuthRecords,
  type FamilyMember,
  type KeyedRecord,
  type LookupMember,
  type RecordUse,
  type ReuseRule,
} from "../../ports/auth-state.ts";
import { defineScript } from "../../ports/shared-queues.ts";
import type { SealedValues } from "./sealed-values.ts";
import { DURABLE_MS, type StoreCommands } from "./store-commands.ts";

export interface RedisAuthParts {
  readonly commands: StoreCommands;
  readonly values: SealedValues;
  /** Start of every key. */
  readonly prefix: string;
  /**
   * Stores the id of the key, unless the store has it. Resolves to true if the store had none before. Called before
   * each write of a value without an expiry.
   */
  readonly bindKey: () => Promise<boolean>;
}

/** Milliseconds for which a revoked grant is remembered, which is longer than any request runs. */
const REVOKED_MS = 10 * 60_000;
/** Maximum number of records that are removed concurrently. */
const REMOVED_AT_ONCE = 100;
/**
 * Maximum number of records of a model that anybody can create without a sign-in. Above it, the record that expires
 * first is removed. Other records exist only after a user or a client has signed in, and expire.
 */
const MAX_OPEN_RECORDS = 20_000;
const OPEN_MODELS: ReadonlySet<string> = new Set(["Interaction", "Session", "DeviceCode", "FederatedSignIn"]);

const LOOKUPS: readonly LookupMember[] = ["uid", "userCode"];
const FAMILIES: readonly FamilyMember[] = ["grantId", "accountId"];
/** Models whose records can also be found by a member of their payload. */
const LOOKED_UP: Readonly<Record<string, LookupMember>> = { Session: "uid", DeviceCode: "userCode" };
/** Member of a family (the records of one grant or account) that marks the family as revoked. */
const REVOKED = "!";

/** Arguments: value, TTL. Replaces the value, and keeps the facts about the use of the record. */
const WRITE = defineScript(`
redis.call('HSET', KEYS[1], 'v', ARGV[1])
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return 1
`);

/** Arguments: time, grace, maximum number of further uses. Returns 1 (used), 0 (reused) or -1 (missing). */
const USE = defineScript(`
if redis.call('HEXISTS', KEYS[1], 'v') == 0 then return -1 end
local consumed = redis.call('HGET', KEYS[1], 'c')
if not consumed then
  redis.call('HSET', KEYS[1], 'c', ARGV[1])
  return 1
end
local uses = tonumber(redis.call('HGET', KEYS[1], 'g') or '0')
if tonumber(ARGV[1]) - tonumber(consumed) > tonumber(ARGV[2]) or uses >= tonumber(ARGV[3]) then return 0 end
redis.call('HINCRBY', KEYS[1], 'g', 1)
return 1
`);

const TAKE = defineScript(`
local found = redis.call('HMGET', KEYS[1], 'v', 'c', 'g')
redis.call('DEL', KEYS[1])
return found
`);

/** Arguments: member, its expiry, time, TTL. Returns 0 if the family was revoked. */
const JOIN_FAMILY = defineScript(`
if redis.call('ZSCORE', KEYS[1], '${REVOKED}') then return 0 end
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', '(' .. ARGV[3])
redis.call('ZADD', KEYS[1], ARGV[2], ARGV[1])
if redis.call('PTTL', KEYS[1]) < tonumber(ARGV[4]) then redis.call('PEXPIRE', KEYS[1], ARGV[4]) end
return 1
`);

/** Arguments: milliseconds for which the family stays revoked, or 0. Returns its members. */
const END_FAMILY = defineScript(`
local members = redis.call('ZRANGE', KEYS[1], 0, -1)
redis.call('DEL', KEYS[1])
if tonumber(ARGV[1]) > 0 then
  redis.call('ZADD', KEYS[1], 0, '${REVOKED}')
  redis.call('PEXPIRE', KEYS[1], ARGV[1])
end
return members
`);

/** Arguments: member, its expiry, time, TTL, maximum. Returns the members that must be removed. */
const COUNT = defineScript(`
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', '(' .. ARGV[3])
redis.call('ZADD', KEYS[1], ARGV[2], ARGV[1])
if redis.call('PTTL', KEYS[1]) < tonumber(ARGV[4]) then redis.call('PEXPIRE', KEYS[1], ARGV[4]) end
local excess = redis.call('ZCARD', KEYS[1]) - tonumber(ARGV[5])
if excess <= 0 then return {} end
local members = redis.call('ZRANGE', KEYS[1], 0, excess - 1)
redis.call('ZREMRANGEBYRANK', KEYS[1], 0, excess - 1)
return members
`);

/**
 * Records of one model in Redis. Each record, each value by which records are found, and each family has its own key,
 * so that every script has one key. Payloads are encrypted.
 */
export class RedisAuthRecords implements AuthRecords {
  readonly #parts: RedisAuthParts;
  readonly #model: string;

  constructor(parts: RedisAuthParts, model: string) {
    this.#parts = parts;
    this.#model = model;
  }

  async find(key: string): Promise<JsonObject | undefined> {
    const { commands } = this.#parts;
    return this.#open(key, await commands.command("HMGET", this.#recordKey(key), "v", "c", "g"));
  }

  async findBy(member: LookupMember, value: string): Promise<KeyedRecord | undefined> {
    const key = await this.#parts.commands.command("GET", this.#nameKey("by", member, value));
    const payload = typeof key === "string" ? await this.find(key) : undefined;
    return payload?.[member] === value ? { key: key as string, payload } : undefined;
  }

  async write(key: string, payload: JsonObject, expiresAt?: number): Promise<void> {
    const { commands, values } = this.#parts;
    const ttl = Math.max(1, Math.ceil(expiresAt === undefined ? DURABLE_MS : expiresAt - commands.now));
    const { consumed: _, graceUses: _uses, ...kept } = payload;
    const sealed = values.seal(stringifyExact({ payload: kept, expiresAt }), this.#placeOf(key));
    await Promise.all([
      commands.run(WRITE, this.#recordKey(key), sealed, ttl),
      this.#addLookup(key, payload, ttl),
      this.#limitNumber(key, ttl),
    ]);
    // The record is stored before it joins its families. If a family was revoked, the record is removed, and its token
    // is never sent to a client.
    const joined = await Promise.all(FAMILIES.map((member) => this.#join(member, payload, { key, ttl })));
    if (joined.every(Boolean)) return;
    await this.remove(key);
    throw new GrantRevokedError();
  }

  async use(key: string, { graceMs, maxUses }: ReuseRule): Promise<RecordUse> {
    const { commands } = this.#parts;
    const used = await commands.run(USE, this.#recordKey(key), commands.now, graceMs, maxUses);
    if (used === 1) return "used";
    return used === 0 ? "reused" : "missing";
  }

  async claim(key: string, expiresAt: number): Promise<boolean> {
    const { commands } = this.#parts;
    const ttl = Math.max(1, Math.ceil(expiresAt - commands.now));
    return (await commands.command("SET", this.#key("once", key), "1", "NX", "PX", ttl)) !== null;
  }

  async take(key: string): Promise<JsonObject | undefined> {
    return this.#open(key, await this.#parts.commands.run(TAKE, this.#recordKey(key)));
  }

  async remove(key: string): Promise<void> {
    await this.#parts.commands.command("DEL", this.#recordKey(key));
  }

  async removeBy(member: FamilyMember, value: string): Promise<readonly string[]> {
    const { commands } = this.#parts;
    const forMs = member === "grantId" ? REVOKED_MS : 0;
    const members = (await commands.run(END_FAMILY, this.#nameKey("of", member, value), forMs)) as readonly string[];
    const keys = members.filter((key) => key !== REVOKED);
    await this.#removeAll(keys);
    return keys;
  }

  /** Redis removes expired records. */
  async sweep(): Promise<void> {}

  async #removeAll(keys: readonly string[]): Promise<void> {
    for (let at = 0; at < keys.length; at += REMOVED_AT_ONCE)
      await Promise.all(keys.slice(at, at + REMOVED_AT_ONCE).map((key) => this.remove(key)));
  }

  async #addLookup(key: string, payload: JsonObject, ttl: number): Promise<void> {
    const member = LOOKUPS.find((one) => LOOKED_UP[this.#model] === one);
    const value = member && stringMember(payload, member);
    if (member === undefined || value === undefined) return;
    await this.#parts.commands.command("SET", this.#nameKey("by", member, value), key, "PX", ttl);
  }

  async #limitNumber(key: string, ttl: number): Promise<void> {
    if (!OPEN_MODELS.has(this.#model)) return;
    const { commands } = this.#parts;
    const { now } = commands;
    const place = this.#key("all", "");
    const excess = await commands.run(COUNT, place, key, now + ttl, now, ttl, MAX_OPEN_RECORDS);
    await this.#removeAll(excess as readonly string[]);
  }

  /** Resolves to false if the family of the record was revoked. */
  async #join(
    member: FamilyMember,
    payload: JsonObject,
    { key, ttl }: { readonly key: string; readonly ttl: number },
  ): Promise<boolean> {
    const value = stringMember(payload, member);
    if (value === undefined) return true;
    const { commands } = this.#parts;
    const { now } = commands;
    return (await commands.run(JOIN_FAMILY, this.#nameKey("of", member, value), key, now + ttl, now, ttl)) === 1;
  }

  #open(key: string, found: unknown): JsonObject | undefined {
    const [sealed, consumed, uses] = found as readonly unknown[];
    const text = this.#parts.values.open(sealed, this.#placeOf(key));
    const record = text === undefined ? undefined : parseExact(text);
    if (!isJsonObject(record) || !isJsonObject(record["payload"])) return undefined;
    const { expiresAt } = record;
    if (typeof expiresAt === "number" && expiresAt <= this.#parts.commands.now) return undefined;
    return {
      ...record["payload"],
      ...(typeof consumed === "string" && { consumed: Math.floor(Number(consumed) / 1000) }),
      ...(typeof uses === "string" && { graceUses: Number(uses) }),
    };
  }

  #placeOf(key: string): string {
    return `${this.#model} ${key}`;
  }

  #recordKey(key: string): string {
    return this.#key("record", key);
  }

  #nameKey(kind: "by" | "of", member: string, value: string): string {
    return this.#key(`${kind}:${member}`, this.#parts.values.nameOf(`${member} ${value}`));
  }

  #key(kind: string, name: string): string {
    return `${this.#parts.prefix}${kind}:{${this.#model}:${name}}`;
  }
}
