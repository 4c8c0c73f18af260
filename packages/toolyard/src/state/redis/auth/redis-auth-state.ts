import { OptionError } from "../../../core/errors.ts";
import { KEY_VARIABLE } from "../../../core/shared-key.ts";
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

/**
 * Opens the state of the authorization server in a store. Rejects with a `StoreLostError`, and with an `OptionError` if
 * other hubs have encrypted the state with another key.
 */
export async function openRedisAuthState(
  connection: RedisConnection,
  storePrefix: string,
  key: Uint8Array,
): Promise<RedisAuthState> {
  const commands = new StoreCommands(connection);
  const values = new SealedValues(key, "sign-in");
  const prefix = `${storePrefix}auth:`;
  const keyName = `${prefix}key`;
  await commands.command("SET", keyName, values.keyId, "NX", "PX", DURABLE_MS);
  if ((await commands.command("GET", keyName)) !== values.keyId)
    throw new OptionError(
      `${KEY_VARIABLE} of this hub is not the key with which the sign-in state in the store was encrypted. Give all ` +
        "hubs of the store the same value.",
    );
  return new RedisAuthState({ commands, values, prefix }, keyName);
}

/** State of the authorization server in Redis, the same for all hubs of a store. */
export class RedisAuthState implements AuthState {
  readonly users: RedisAuthText;
  readonly keys: RedisAuthText;
  readonly clients: RedisAuthTable;
  readonly polls: RedisPolls;
  readonly #parts: RedisAuthParts;
  readonly #durable: readonly string[];
  /** Time of the last renewal, on the clock of `performance.now()`. */
  #renewedAt = -Infinity;

  constructor(parts: RedisAuthParts, keyName: string) {
    this.#parts = parts;
    this.users = new RedisAuthText(parts, "users");
    this.keys = new RedisAuthText(parts, "keys");
    this.clients = new RedisAuthTable(parts, { name: "clients", most: MAX_CLIENTS });
    this.polls = new RedisPolls(parts, POLL_RULE);
    this.#durable = [keyName, this.users.key, this.keys.key, this.clients.key];
  }

  records(model: string): AuthRecords {
    return new RedisAuthRecords(this.#parts, model);
  }

  attempts(name: string, limit: AttemptLimit): AuthAttempts {
    return new RedisAttempts(this.#parts, name, limit);
  }

  /** Keeps the values without an expiry for as long as a hub runs. Never throws. */
  renew(): void {
    if (performance.now() - this.#renewedAt < RENEW_MS) return;
    this.#renewedAt = performance.now();
    for (const key of this.#durable)
      this.#parts.commands.command("PEXPIRE", key, DURABLE_MS).catch(() => {
        // The next renewal writes again, long before the values expire.
        this.#renewedAt = -Infinity;
      });
  }
}
