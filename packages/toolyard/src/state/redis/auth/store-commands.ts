import { StoreLostError } from "../../ports/store.ts";
import type { SharedScript } from "../../ports/shared-queues.ts";
import type { RedisConnection } from "../connection.ts";

/**
 * Milliseconds for which values without an expiry outlive the last hub that used them. Running hubs renew the values.
 */
export const DURABLE_MS = 400 * 24 * 3_600_000;

/** Commands whose callers need the answer. Every failure is a `StoreLostError`. */
export class StoreCommands {
  readonly #connection: RedisConnection;

  constructor(connection: RedisConnection) {
    this.#connection = connection;
  }

  /** Milliseconds since 1970 on the clock of the store. */
  get now(): number {
    return this.#connection.now;
  }

  command(name: string, ...parts: (string | number)[]): Promise<unknown> {
    return this.#ask(() => this.#connection.command(name, ...parts));
  }

  /** Runs a script with one key. */
  run(script: SharedScript, key: string, ...parts: (string | number)[]): Promise<unknown> {
    return this.#ask(() => this.#connection.run(script, key, ...parts));
  }

  async #ask(send: () => Promise<unknown>): Promise<unknown> {
    if (this.#connection.isLost) throw new StoreLostError();
    try {
      return await send();
    } catch (cause) {
      throw new StoreLostError({ cause });
    }
  }
}
