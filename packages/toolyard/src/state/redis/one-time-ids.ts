import type { OneTimeIds } from "../ports/one-time-ids.ts";
import type { RedisConnection } from "./connection.ts";

/** Ids that were used, in Redis. */
export class RedisOneTimeIds implements OneTimeIds {
  readonly #connection: Pick<RedisConnection, "command">;
  readonly #prefix: string;
  readonly #refusesOnLoss: boolean;

  constructor(connection: Pick<RedisConnection, "command">, prefix: string, refusesOnLoss: boolean) {
    this.#connection = connection;
    this.#prefix = prefix;
    this.#refusesOnLoss = refusesOnLoss;
  }

  async claim(id: string, ttlMs: number): Promise<boolean> {
    try {
      const lifetime = Math.max(1, Math.ceil(ttlMs));
      return (await this.#connection.command("SET", `${this.#prefix}${id}`, "1", "NX", "PX", lifetime)) !== null;
    } catch (error) {
      if (this.#refusesOnLoss) throw error;
      return true;
    }
  }
}
