import { isJsonObject, stringMember } from "../../core/json/json.ts";
import { parseExact, stringifyExact } from "../../core/json/exact-json.ts";
import type { PeerFacts } from "../ports/peers.ts";
import { StoreLostError } from "../ports/store.ts";
import type { RedisConnection } from "./connection.ts";

/** Milliseconds without a renewal after which a hub counts as exited. Short, because a store has many hubs. */
export const HUB_LEASE_MS = 6000;
/**
 * Milliseconds for which a hub that was alive is not looked up again: the time between two renewals. A killed hub is
 * usually detected before, by its closed port or its missing listener.
 */
const CACHE_MS = HUB_LEASE_MS / 3;
/** Maximum number of hubs in the cache. */
const MAX_CACHED = 1000;

export interface LeaseParts {
  readonly hub: string;
  readonly connection: RedisConnection;
  /** Start of every key of the store. */
  readonly prefix: string;
}

interface CachedLease {
  readonly facts: PeerFacts;
  /** Time of the reading, on the clock of `performance.now()`. */
  readonly readAt: number;
}

/** Leases and facts of the hubs, one key each. A key expires with its lease, so nothing remains of a killed hub. */
export class HubLeases {
  readonly #parts: LeaseParts;
  readonly #cached = new Map<string, CachedLease>();
  #facts: PeerFacts = {};

  constructor(parts: LeaseParts) {
    this.#parts = parts;
  }

  announce(facts: PeerFacts): void {
    this.#facts = { ...this.#facts, ...facts };
    if (!this.#parts.connection.isLost) this.renew();
  }

  renew(): void {
    const { hub, connection } = this.#parts;
    const text = stringifyExact({ until: connection.now + HUB_LEASE_MS, ...this.#facts });
    void connection.write(connection.command("SET", this.#keyOf(hub), text, "PX", HUB_LEASE_MS));
  }

  release(): void {
    const { hub, connection } = this.#parts;
    void connection.write(connection.command("DEL", this.#keyOf(hub)));
  }

  /** Returns the facts of a hub, or `undefined` if it is not alive. Rejects with a `StoreLostError`. */
  find(hub: string): PeerFacts | undefined | Promise<PeerFacts | undefined> {
    if (hub === "") return undefined;
    if (hub === this.#parts.hub) return this.#facts;
    const cached = this.#cached.get(hub);
    return cached && performance.now() - cached.readAt < CACHE_MS ? cached.facts : this.#read(hub);
  }

  /** Removes a hub from the cache, because it did not answer. */
  forget(hub: string): void {
    this.#cached.delete(hub);
  }

  async #read(hub: string): Promise<PeerFacts | undefined> {
    const { connection } = this.#parts;
    this.#cached.delete(hub);
    if (connection.isLost) throw new StoreLostError();
    const text = await connection.command("GET", this.#keyOf(hub)).catch((cause: unknown) => {
      throw new StoreLostError({ cause });
    });
    const value = typeof text === "string" ? parseExact(text) : undefined;
    if (!isJsonObject(value) || Number(value["until"]) <= connection.now) {
      // A hub that is alive stores its lease again soon after the store is back.
      if (connection.isRecovering) throw new StoreLostError();
      return undefined;
    }
    const [url, configuration] = [stringMember(value, "url"), stringMember(value, "configuration")];
    const facts = { ...(url !== undefined && { url }), ...(configuration !== undefined && { configuration }) };
    if (this.#cached.size >= MAX_CACHED) this.#cached.clear();
    this.#cached.set(hub, { facts, readAt: performance.now() });
    return facts;
  }

  #keyOf(hub: string): string {
    return `${this.#parts.prefix}hub:{${hub}}`;
  }
}
