import { createHash, createHmac } from "node:crypto";
import { isJsonObject, type JsonObject } from "../../../core/json/json.ts";
import { parseExact, stringifyExact } from "../../../core/json/exact-json.ts";
import { Refusal } from "../../../http/answer/refusal.ts";
import {
  defineScript,
  type SharedQueues,
  type SharedScript,
  type StoreLease,
} from "../../../state/ports/shared-queues.ts";
import { openText, sealText } from "../../../state/sealed-text.ts";

/** Milliseconds after which the lock of a killed hub ends. */
const LOCK_MS = 15_000;

/**
 * Scores are times of expiry in microseconds. Arguments: id, value, lifetime in ms, maximum number. Removes the records
 * that expire first above the maximum.
 */
const PUT = defineScript(`
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
redis.call('SET', KEYS[1] .. ':' .. ARGV[1], ARGV[2], 'PX', ARGV[3])
redis.call('ZADD', KEYS[1], string.format('%.0f', now + ARGV[3] * 1000), ARGV[1])
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', string.format('%.0f', now))
local over = redis.call('ZCARD', KEYS[1]) - ARGV[4]
if over > 0 then
  for _, id in ipairs(redis.call('ZRANGE', KEYS[1], 0, over - 1)) do
    redis.call('DEL', KEYS[1] .. ':' .. id)
    redis.call('ZREM', KEYS[1], id)
  end
end
if redis.call('PTTL', KEYS[1]) < tonumber(ARGV[3]) then redis.call('PEXPIRE', KEYS[1], ARGV[3]) end
return 1`);

/** Arguments: id. Returns a record and its remaining lifetime in ms. */
const READ = defineScript(`
return { redis.call('GET', KEYS[1] .. ':' .. ARGV[1]), redis.call('PTTL', KEYS[1] .. ':' .. ARGV[1]) }`);

/** Arguments: id, new lifetime in ms. */
const EXTEND = defineScript(`
if redis.call('PEXPIRE', KEYS[1] .. ':' .. ARGV[1], ARGV[2]) == 0 then return 0 end
local time = redis.call('TIME')
redis.call('ZADD', KEYS[1], string.format('%.0f', time[1] * 1000000 + time[2] + ARGV[2] * 1000), ARGV[1])
if redis.call('PTTL', KEYS[1]) < tonumber(ARGV[2]) then redis.call('PEXPIRE', KEYS[1], ARGV[2]) end
return 1`);

/** Arguments: id. Removes a record and returns it. */
const TAKE = defineScript(`
local value = redis.call('GET', KEYS[1] .. ':' .. ARGV[1])
redis.call('DEL', KEYS[1] .. ':' .. ARGV[1])
redis.call('ZREM', KEYS[1], ARGV[1])
return value`);

export interface SealedRecordsParts {
  readonly queues: SharedQueues;
  /** Kind of the records, a part of their keys. */
  readonly name: string;
  /** Maximum number of records of all hubs. Above it, those that expire first are removed. */
  readonly max: number;
}

/** A record, with the milliseconds after which it expires. */
export interface TimedRecord {
  readonly record: JsonObject;
  readonly leftMs: number;
}

/**
 * Records of all hubs of a store, each found by a secret that only its user has. The store contains the digest of the
 * secret, and the record encrypted with a key derived from it, so that a reader of the store can use neither.
 */
export class SealedRecords {
  readonly #parts: SealedRecordsParts;

  constructor(parts: SealedRecordsParts) {
    this.#parts = parts;
  }

  async put(secret: string, record: JsonObject, lifeMs: number): Promise<void> {
    const text = this.#seal(secret, stringifyExact(record));
    await this.#run(PUT, idOf(secret), text, Math.ceil(lifeMs), this.#parts.max);
  }

  /** Replaces a record. Resolves to false if there is none any more. */
  async replace(secret: string, record: JsonObject, lifeMs: number): Promise<boolean> {
    const text = this.#seal(secret, stringifyExact(record));
    const key = `${this.#key}:${idOf(secret)}`;
    return (await this.#ask(this.#parts.queues.command("SET", key, text, "XX", "PX", Math.ceil(lifeMs)))) !== null;
  }

  async read(secret: string): Promise<JsonObject | undefined> {
    return this.#open(secret, await this.#ask(this.#parts.queues.command("GET", `${this.#key}:${idOf(secret)}`)));
  }

  async readTimed(secret: string): Promise<TimedRecord | undefined> {
    const [text, leftMs] = (await this.#run(READ, idOf(secret))) as readonly [unknown, number];
    const record = this.#open(secret, text);
    return record && { record, leftMs };
  }

  /** Lets a record live for another `lifeMs`. */
  async extend(secret: string, lifeMs: number): Promise<void> {
    await this.#run(EXTEND, idOf(secret), Math.ceil(lifeMs));
  }

  /** Removes a record. Only one caller gets it. */
  async take(secret: string): Promise<JsonObject | undefined> {
    return this.#open(secret, await this.#run(TAKE, idOf(secret)));
  }

  /** Locks a record. Resolves to `undefined` if another hub has locked it. The lock of a killed hub ends. */
  async lock(secret: string): Promise<StoreLease | undefined> {
    return this.#ask(this.#parts.queues.takeLease(this.#lockKey(secret), LOCK_MS));
  }

  /** Resolves to true while a hub has locked the record. */
  async isLocked(secret: string): Promise<boolean> {
    return (await this.#ask(this.#parts.queues.command("GET", this.#lockKey(secret)))) !== null;
  }

  #lockKey(secret: string): string {
    return `${this.#key}:lock:${idOf(secret)}`;
  }

  /** Key of the index. The braces keep all keys of a kind at one server of a cluster. */
  get #key(): string {
    return `${this.#parts.queues.prefix}{console:${this.#parts.name}}`;
  }

  #run(name: SharedScript, ...parts: readonly (string | number)[]): Promise<unknown> {
    return this.#ask(this.#parts.queues.run(name, this.#key, ...parts));
  }

  /** A store that cannot be reached must not look like a missing record, which would sign users out. */
  async #ask<T>(answer: Promise<T>): Promise<T> {
    try {
      return await answer;
    } catch {
      throw new Refusal(503, "The shared store of the hubs cannot be reached.", { "retry-after": "2" });
    }
  }

  #cipherKey(secret: string): Buffer {
    return createHmac("sha256", secret).update("toolyard console").digest();
  }

  #seal(secret: string, text: string): string {
    return sealText(text, this.#cipherKey(secret), this.#parts.name);
  }

  /** A record that was changed in the store is treated as missing. */
  #open(secret: string, sealed: unknown): JsonObject | undefined {
    const text = openText(sealed, this.#cipherKey(secret), this.#parts.name);
    const value: unknown = text === undefined ? undefined : parseExact(text);
    return isJsonObject(value) ? value : undefined;
  }
}

function idOf(secret: string): string {
  return createHash("sha256").update(secret).digest("base64url");
}
