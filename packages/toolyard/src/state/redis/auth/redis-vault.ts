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
import { takeLease } from "../store-lease.ts";
import type { RedisAuthParts } from "./redis-auth-records.ts";
import { RedisAuthTable } from "./redis-auth-table.ts";

/** Milliseconds after which the lease of a killed hub ends. */
const LEASE_MS = 15_000;
/** Milliseconds between two attempts to get a lease. */
const POLL_MS = 50;

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
    if (!isReplaced) return false;
    // This hub does not wait for its own notification, so that the next call finds the sign-in.
    this.#version += 1;
    this.#parts.notifications.publish({ type: "vault-changed" });
    return true;
  }

  async exclusively<T>(name: string, work: () => Promise<T>, { waitMs, signal }: LeaseOptions): Promise<T> {
    const { commands, prefix, values } = this.#parts;
    const place = { key: `${prefix}lease:{${values.nameOf(name)}}`, lifeMs: LEASE_MS };
    const until = performance.now() + waitMs;
    let lease = await takeLease(commands, place);
    while (!lease) {
      if (performance.now() > until) throw new LeaseTakenError(`Another hub uses \`${name}\` for too long.`);
      await delay(POLL_MS, undefined, signal ? { signal } : {});
      lease = await takeLease(commands, place);
    }
    try {
      return await work();
    } finally {
      await lease.release();
    }
  }
}
