import { createHash } from "node:crypto";
import { TableFullError, type AuthTable } from "../../ports/auth-state.ts";
import type { VaultEntry } from "../../ports/shared-vault.ts";
import { defineScript } from "../../ports/shared-queues.ts";
import type { RedisAuthParts } from "./redis-auth-records.ts";
import { DURABLE_MS } from "./store-commands.ts";

/** Arguments: name, value, TTL, maximum number of values. Returns 0 if the table is full. */
const PUT = defineScript(`
if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 and redis.call('HLEN', KEYS[1]) >= tonumber(ARGV[4]) then return 0 end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
redis.call('PEXPIRE', KEYS[1], ARGV[3])
return 1
`);

/**
 * Arguments: name, digest of the expected value or an empty text, new value or an empty text, TTL, maximum. Returns 1
 * (replaced), 0 (another value is stored) or -1 (the table is full).
 */
const REPLACE = defineScript(`
local known = redis.call('HGET', KEYS[1], ARGV[1])
local digest = known and redis.sha1hex(known) or ''
if digest ~= ARGV[2] then return 0 end
if ARGV[3] == '' then
  redis.call('HDEL', KEYS[1], ARGV[1])
  return 1
end
if not known and redis.call('HLEN', KEYS[1]) >= tonumber(ARGV[5]) then return -1 end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[3])
redis.call('PEXPIRE', KEYS[1], ARGV[4])
return 1
`);

interface TableLimits {
  readonly name: string;
  /** Maximum number of values. */
  readonly most: number;
}

/** Values by name, encrypted in one hash of Redis. */
export class RedisAuthTable implements AuthTable {
  readonly key: string;
  readonly #parts: RedisAuthParts;
  readonly #place: TableLimits;

  constructor(parts: RedisAuthParts, place: TableLimits) {
    this.#parts = parts;
    this.#place = place;
    this.key = `${parts.prefix}table:{${place.name}}`;
  }

  async get(name: string): Promise<string | undefined> {
    return (await this.find(name)).value;
  }

  /** Finds a value, with the digest by which `replace` recognizes it. */
  async find(name: string): Promise<VaultEntry> {
    const stored = await this.#parts.commands.command("HGET", this.key, name);
    if (typeof stored !== "string") return { digest: "", value: undefined };
    return { digest: createHash("sha1").update(stored).digest("hex"), value: this.#open(name, stored) };
  }

  async all(): Promise<readonly string[]> {
    const entries = (await this.#parts.commands.command("HGETALL", this.key)) as readonly string[];
    const values = entries.map((stored, at) => (at % 2 === 0 ? undefined : this.#open(entries[at - 1]!, stored)));
    return values.filter((value) => value !== undefined);
  }

  async put(name: string, value: string): Promise<void> {
    await this.#parts.bindKey();
    const sealed = this.#seal(name, value);
    const stored = await this.#parts.commands.run(PUT, this.key, name, sealed, DURABLE_MS, this.#place.most);
    if (stored !== 1) throw new TableFullError(`The table \`${this.#place.name}\` is full.`);
  }

  async remove(name: string): Promise<boolean> {
    return (await this.#parts.commands.command("HDEL", this.key, name)) === 1;
  }

  /**
   * Replaces the value that `find` returned; `undefined` removes it. Resolves to false if another hub has replaced it
   * meanwhile. Rejects with a `TableFullError`.
   */
  async replace(name: string, { digest }: VaultEntry, value: string | undefined): Promise<boolean> {
    if (value !== undefined) await this.#parts.bindKey();
    const sealed = value === undefined ? "" : this.#seal(name, value);
    const { most } = this.#place;
    const replaced = await this.#parts.commands.run(REPLACE, this.key, name, digest, sealed, DURABLE_MS, most);
    if (replaced === -1) throw new TableFullError(`The table \`${this.#place.name}\` is full.`);
    return replaced === 1;
  }

  #seal(name: string, value: string): string {
    return this.#parts.values.seal(value, `${this.#place.name} ${name}`);
  }

  #open(name: string, stored: string): string | undefined {
    return this.#parts.values.open(stored, `${this.#place.name} ${name}`);
  }
}
