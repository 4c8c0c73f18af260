import { Deadline } from "../../core/calls/deadline.ts";
import type { Connection } from "./connection.ts";

/** Maximum time of the first subscription to a URI, including the connection. */
const SUBSCRIBE_MS = 30_000;

/** Counts the subscribers of each resource, and subscribes at the server accordingly, also on a new connection. */
export class Subscriptions {
  readonly #connect: (signal: AbortSignal) => Promise<Connection>;
  readonly #counts = new Map<string, number>();

  constructor(connect: (signal: AbortSignal) => Promise<Connection>) {
    this.#connect = connect;
  }

  get size(): number {
    return this.#counts.size;
  }

  /** Returns a function that ends this subscription; a second call has no effect. */
  async add(uri: string): Promise<() => Promise<void>> {
    this.#count(uri, 1);
    if (this.#counts.get(uri) === 1) {
      try {
        await this.#tell();
      } catch (error) {
        this.#count(uri, -1);
        throw error;
      }
    }
    let isOver = false;
    return async () => {
      if (isOver) return;
      isOver = true;
      this.#count(uri, -1);
      // An error is ignored, because a client that unsubscribes does not need the server's confirmation.
      if (!this.#counts.has(uri)) await this.#tell().catch(() => {});
    };
  }

  /** Restores all subscriptions on a new connection. */
  async renew(connection: Connection): Promise<void> {
    await connection.watch(new Set(this.#counts.keys()));
  }

  #count(uri: string, by: 1 | -1): void {
    const count = (this.#counts.get(uri) ?? 0) + by;
    if (count > 0) this.#counts.set(uri, count);
    else this.#counts.delete(uri);
  }

  async #tell(): Promise<void> {
    const deadline = new Deadline({ idleMs: SUBSCRIBE_MS, totalMs: SUBSCRIBE_MS });
    try {
      await this.renew(await this.#connect(deadline.signal));
    } finally {
      deadline.clear();
    }
  }
}
