import { otherKeyError } from "../../../core/shared-key.ts";
import {
  MAX_CLIENTS,
  POLL_RULE,
  type AttemptLimit,
  type AuthAttempts,
  type AuthRecords,
  type AuthState,
} from "../../ports/auth-state.ts";
import type { RedisConnection } from "../connection.ts";
import { RedisAttempts, RedisPolls } from "./redis-attempts.ts";
import { RedisAuthRecords, type RedisAuthParts } from "./redis-auth-records.ts";
import { RedisAuthTable } from "./redis-auth-table.ts";
import { RedisAuthText } from "./redis-auth-text.ts";
import { SealedValues } from "./sealed-values.ts";
import { DURABLE_MS, StoreCommands } from "./store-commands.ts";

/** Milliseconds between two renewals of the values without an expiry. */
const RENEW_MS = 3_600_000;

export interface OpenParts {
  readonly connection: RedisConnection;
  /** Start of every key of the store. */
  readonly prefix: string;
  readonly key: Uint8Array;
  readonly purpose: "sign-in" | "vault";
}

/**
 * Opens encrypted state in a store. Rejects with a `StoreLostError`, and with an `OptionError` if other hubs have
 * encrypted it with another key. Writes nothing.
 */
export async function openParts({ connection, prefix: start, key, purpose }: OpenParts): Promise<RedisAuthParts> {
  const commands = new StoreCommands(connection);
  const values = new SealedValues(key, purpose);
  const prefix = `${start}${purpose === "vault" ? "vault" : "auth"}:`;
  const keyName = keyNameOf(prefix);
  const check = (stored: unknown): void => {
    if (stored !== null && stored !== values.keyId) throw otherKeyError(`${purpose} state`);
  };
  const bind = async (): Promise<boolean> => {
    const isNew = (await commands.command("SET", keyName, values.keyId, "NX", "PX", DURABLE_MS)) === "OK";
    check(await commands.command("GET", keyName));
    return isNew;
  };
  check(await commands.command("GET", keyName));
  return { commands, values, prefix, bindKey: onceDone(bind) };
}

/** Returns a function that runs `work` once. After a failure, the next call runs it again. */
function onceDone<T>(work: () => Promise<T>): () => Promise<T> {
  let done: Promise<T> | undefined;
  return () => {
    done ??= work().catch((error: unknown) => {
      done = undefined;
      throw error;
    });
    return done;
  };
}

/** Returns the key of Redis that has the id of the key with which the state is encrypted. */
function keyNameOf(prefix: string): string {
  return `${prefix}key`;
}

/** Keeps values without an expiry for as long as a hub runs. */
export class DurableKeys {
  readonly #commands: StoreCommands;
  readonly #keys: readonly string[];
  /** Time of the last renewal, on the clock of `performance.now()`. */
  #renewedAt = -Infinity;

  constructor({ commands, prefix }: RedisAuthParts, keys: readonly string[]) {
    this.#commands = commands;
    this.#keys = [keyNameOf(prefix), ...keys];
  }

  /** Never throws. */
  renew(): void {
    if (performance.now() - this.#renewedAt < RENEW_MS) return;
    this.#renewedAt = performance.now();
    for (const key of this.#keys)
      this.#commands.command("PEXPIRE", key, DURABLE_MS).catch(() => {
        // The next renewal writes again, long before the values expire.
        this.#renewedAt = -Infinity;
      });
  }
}

/** State of the authorization server in Redis, the same for all hubs of a store. */
export class RedisAuthState implements AuthState {
  readonly users: RedisAuthText;
  readonly keys: RedisAuthText;
  readonly clients: RedisAuthTable;
  readonly polls: RedisPolls;
  readonly #parts: RedisAuthParts;
  readonly durable: DurableKeys;

  constructor(parts: RedisAuthParts) {
    this.#parts = parts;
    this.users = new RedisAuthText(parts, "users");
    this.keys = new RedisAuthText(parts, "keys");
    this.clients = new RedisAuthTable(parts, { name: "clients", most: MAX_CLIENTS });
    this.polls = new RedisPolls(parts, POLL_RULE);
    this.durable = new DurableKeys(parts, [this.users.key, this.keys.key, this.clients.key]);
  }

  bindKey(): Promise<boolean> {
    return this.#parts.bindKey();
  }

  records(model: string): AuthRecords {
    return new RedisAuthRecords(this.#parts, model);
  }

  attempts(name: string, limit: AttemptLimit): AuthAttempts {
    return new RedisAttempts(this.#parts, name, limit);
  }
}
