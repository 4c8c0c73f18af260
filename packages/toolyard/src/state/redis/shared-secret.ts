import { createHash, hkdfSync, randomBytes } from "node:crypto";
import { KEY_VARIABLE } from "../../core/shared-key.ts";
import type { RedisConnection } from "./connection.ts";

const SECRET_BYTES = 32;
/** Milliseconds for which the random value outlives the last hub. */
const SECRET_TTL_MS = 30 * 24 * 3_600_000;
/** Milliseconds for which the id of the key outlives the last hub that has it, so that all hubs may get another key. */
const KEY_ID_TTL_MS = 180_000;
/** Id of the key of hubs without a key. */
const NO_KEY = "none";
const DIFFERENT_KEYS =
  `${KEY_VARIABLE} of this hub is not that of the other hubs of the store, so they refuse its requests, and it ` +
  "refuses theirs. Give all hubs the same value.";

export interface SharedSecretParts {
  readonly connection: RedisConnection;
  /** Start of every key of the store. */
  readonly prefix: string;
  /** Key that all hubs have and the store does not. Absent: a reader of the store knows the secret. */
  readonly key: Uint8Array | undefined;
}

/**
 * Secret of the hubs of a store. It is derived from a random value in the store and from the key of the hubs, so that a
 * reader of the store cannot compute it.
 */
export class SharedSecret {
  readonly #parts: SharedSecretParts;
  #stored: Uint8Array = randomBytes(SECRET_BYTES);
  #value: Uint8Array;

  private constructor(parts: SharedSecretParts) {
    this.#parts = parts;
    this.#value = this.#derived();
  }

  /** Reads the secret. Rejects if the store cannot be reached. */
  static async open(parts: SharedSecretParts): Promise<SharedSecret> {
    const secret = new SharedSecret(parts);
    await secret.restore();
    return secret;
  }

  get value(): Uint8Array {
    return this.#value;
  }

  /**
   * Stores the random value again if the store lost it. If another hub has already stored a different one, this hub
   * uses that one from now on.
   */
  async restore(): Promise<void> {
    const { connection } = this.#parts;
    const own = Buffer.from(this.#stored).toString("hex");
    await connection.command("SET", this.#name, own, "NX", "PX", SECRET_TTL_MS);
    const stored = await connection.command("GET", this.#name);
    await this.renew();
    if (typeof stored !== "string" || stored === own) return;
    this.#stored = Buffer.from(stored, "hex");
    this.#value = this.#derived();
  }

  /** Keeps the random value for as long as a hub runs. Logs once that other hubs have a different key. */
  async renew(): Promise<void> {
    const { connection } = this.#parts;
    const keyName = `${this.#name}:key`;
    const id = this.#keyId();
    await connection.command("PEXPIRE", this.#name, SECRET_TTL_MS);
    await connection.command("SET", keyName, id, "NX", "PX", KEY_ID_TTL_MS);
    const stored = await connection.command("GET", keyName);
    if (stored === id) await connection.command("PEXPIRE", keyName, KEY_ID_TTL_MS);
    else if (stored !== null) connection.warnOnce(DIFFERENT_KEYS);
  }

  get #name(): string {
    return `${this.#parts.prefix}secret`;
  }

  #derived(): Uint8Array {
    const { key } = this.#parts;
    return key ? derive(key, this.#stored, "toolyard store secret") : this.#stored;
  }

  /** Returns an id that distinguishes keys and reveals nothing about them. */
  #keyId(): string {
    const { key } = this.#parts;
    if (!key) return NO_KEY;
    return createHash("sha256")
      .update(derive(key, "", "toolyard store secret id"))
      .digest("hex")
      .slice(0, 16);
  }
}

function derive(key: Uint8Array, salt: Uint8Array | string, use: string): Buffer {
  return Buffer.from(hkdfSync("sha256", key, salt, use, SECRET_BYTES));
}
