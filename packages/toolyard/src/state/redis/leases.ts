import type { RedisConnection } from "./connection.ts";

/** Milliseconds without a renewal after which a hub counts as exited. Short, because a store has many hubs. */
export const HUB_LEASE_MS = 6000;

export interface LeaseParts {
  readonly hub: string;
  readonly connection: RedisConnection;
  /** Start of every key of the store. */
  readonly prefix: string;
}

/** Leases of the hubs, one key each. A key expires with its lease, so nothing remains of a hub that was killed. */
export class HubLeases {
  readonly #parts: LeaseParts;

  constructor(parts: LeaseParts) {
    this.#parts = parts;
  }

  renew(): void {
    const { hub, connection } = this.#parts;
    const end = connection.now + HUB_LEASE_MS;
    connection.write(connection.command("SET", this.#keyOf(hub), end, "PX", HUB_LEASE_MS));
  }

  release(): void {
    const { hub, connection } = this.#parts;
    connection.write(connection.command("DEL", this.#keyOf(hub)));
  }

  async isAlive(hub: string): Promise<boolean> {
    const { connection } = this.#parts;
    const end = await connection.command("GET", this.#keyOf(hub));
    return Number(end ?? 0) > connection.now;
  }

  #keyOf(hub: string): string {
    return `${this.#parts.prefix}hub:{${hub}}`;
  }
}
