import { randomBytes } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import type { HubNotifications } from "../../ports/hub-notifications.ts";
import {
  LeaseTakenError,
  MAX_VAULT_RECORDS,
  type LeaseOptions,
  type SharedVault,
  type VaultEntry,
  type VaultPlace,
  type VaultTable,
} from "../../ports/shared-vault.ts";
import { defineScript } from "../connection.ts";
import type { RedisAuthParts } from "./redis-auth-records.ts";
import { RedisAuthTable } from "./redis-auth-table.ts";

/** Milliseconds after which the lease of a killed hub ends. */
const LEASE_MS = 15_000;
const RENEW_MS = LEASE_MS / 3;
/** Milliseconds between two attempts to get a lease. */
const POLL_MS = 50;

/** Arguments: token, TTL. */
const RENEW = defineScript(`
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('PEXPIRE', KEYS[1], ARGV[2])
`);

/** Arguments: token. */
const RELEASE = defineScript(`
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('DEL', KEYS[1])
`);

const TAKE = defineScript(`
local found = redis.call('GET', KEYS[1])
redis.call('DEL', KEYS[1])
return found
`);

/** Arguments: TTL. */
const COUNT = defineScript(`
local count = redis.call('INCR', KEYS[1])
if count == 1 then redis.call('PEXPIRE', KEYS[1], ARGV[1]) end
return count
`);

export interface RedisVaultParts extends RedisAuthParts {
  readonly notifications: HubNotifications;
  /** Calls the listener when messages may have been lost. */
  readonly onInterrupted: (listener: () => void) => void;
}

/** Sign-ins to servers in Redis, the same for all hubs of a store. */
export class RedisVault implements SharedVault {
  readonly #parts: RedisVaultParts;
  readonly #tables: Readonly<Record<VaultTable, RedisAuthTable>>;
  #version = 0;

  constructor(parts: RedisVaultParts) {
    this.#parts = parts;
    const table = (name: VaultTable): RedisAuthTable => new RedisAuthTable(parts, { name, most: MAX_VAULT_RECORDS });
    this.#tables = { "sign-ins": table("sign-ins"), issuers: table("issuers") };
    parts.notifications.on(({ type }) => {
      if (type === "vault-changed") this.#version += 1;
    });
    parts.onInterrupted(() => (this.#version += 1));
  }

  /** Opens the vault. Resolves when its version is known. */
  async open(): Promise<this> {
    const count = await this.#parts.commands.command("HLEN", this.#tables["sign-ins"].key);
    if (Number(count) > 0) this.#version += 1;
    return this;
  }

  get version(): number {
    return this.#version;
  }

  /** Keys of the values without an expiry. */
  get durable(): readonly string[] {
    return Object.values(this.#tables).map(({ key }) => key);
  }

  find({ table, name }: VaultPlace): Promise<VaultEntry> {
    return this.#tables[table].find(this.#parts.values.nameOf(name));
  }

  all(table: VaultTable): Promise<readonly string[]> {
    return this.#tables[table].all();
  }

  async replace({ table, name }: VaultPlace, before: VaultEntry, value: string | undefined): Promise<boolean> {
    const isReplaced = await this.#tables[table].replace(this.#parts.values.nameOf(name), before, value);
    if (isReplaced) this.#parts.notifications.publish({ type: "vault-changed" });
    return isReplaced;
  }

  async exclusively<T>(name: string, work: () => Promise<T>, { waitMs, signal }: LeaseOptions): Promise<T> {
    const { commands } = this.#parts;
    const [key, token] = [this.#keyOf("lease", name), randomBytes(12).toString("hex")];
    const until = performance.now() + waitMs;
    while ((await commands.command("SET", key, token, "NX", "PX", LEASE_MS)) === null) {
      if (performance.now() > until) throw new LeaseTakenError(`Another hub uses \`${name}\` for too long.`);
      await delay(POLL_MS, undefined, signal ? { signal } : {});
    }
    const timer = setInterval(() => void commands.run(RENEW, key, token, LEASE_MS).catch(() => {}), RENEW_MS);
    try {
      return await work();
    } finally {
      clearInterval(timer);
      // If the store is lost, the lease ends by itself.
      await commands.run(RELEASE, key, token).catch(() => {});
    }
  }

  async leave(name: string, text: string, ttlMs: number): Promise<void> {
    const { commands, values } = this.#parts;
    const key = this.#keyOf("waiting", name);
    await commands.command("SET", key, values.seal(text, key), "PX", ttlMs);
  }

  async look(name: string): Promise<string | undefined> {
    const key = this.#keyOf("waiting", name);
    return this.#parts.values.open(await this.#parts.commands.command("GET", key), key);
  }

  async take(name: string): Promise<string | undefined> {
    const key = this.#keyOf("waiting", name);
    return this.#parts.values.open(await this.#parts.commands.run(TAKE, key), key);
  }

  async count(name: string, ttlMs: number): Promise<number> {
    return Number(await this.#parts.commands.run(COUNT, this.#keyOf("count", name), ttlMs));
  }

  #keyOf(kind: string, name: string): string {
    return `${this.#parts.prefix}${kind}:{${this.#parts.values.nameOf(name)}}`;
  }
}
