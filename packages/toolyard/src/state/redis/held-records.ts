import { parseExact, stringifyExact } from "../../core/json/exact-json.ts";
import type { ParkedDirectory } from "../ports/parked-directory.ts";
import type { HeldSession, SessionRecord, SessionRecords } from "../ports/session-records.ts";
import type { HubLeases, LeaseParts } from "./leases.ts";

interface HeldParts extends LeaseParts {
  readonly leases: HubLeases;
}

/** Value of one hub, as the store has it. */
interface HeldEntry {
  readonly hub: string;
  readonly value: unknown;
}

/** Milliseconds after which a key expires that its hub does not write again. */
const KEY_TTL_MS = 3_600_000;
/** Time between two renewals of all keys, which is far more than a lease: there may be 10,000 sessions. */
const REFRESH_MS = KEY_TTL_MS / 3;

/**
 * Values by id. Each is held by one hub, and exists as long as that hub is alive. A hub also keeps its own values, to
 * renew their keys and to restore them after the store lost its data.
 */
export class HeldKeys {
  readonly #parts: HeldParts;
  readonly #own = new Map<string, string>();
  #refreshedAt = performance.now();

  constructor(parts: HeldParts) {
    this.#parts = parts;
  }

  put(id: string, value: unknown): void {
    const { hub, connection } = this.#parts;
    const text = stringifyExact({ hub, value } satisfies HeldEntry);
    this.#own.set(id, text);
    if (!connection.isLost) this.#write(id, text);
  }

  async find(id: string): Promise<HeldEntry | undefined> {
    const own = this.#own.get(id);
    if (own !== undefined) return parseExact(own) as HeldEntry;
    const { connection, leases } = this.#parts;
    if (connection.isLost) return undefined;
    try {
      const text = await connection.command("GET", this.#keyOf(id));
      if (typeof text !== "string") return undefined;
      const held = parseExact(text) as HeldEntry;
      return (await leases.isAlive(held.hub)) ? held : undefined;
    } catch {
      // While the store cannot be reached, this hub knows only its own values.
      return undefined;
    }
  }

  remove(id: string): void {
    const { connection } = this.#parts;
    if (this.#own.delete(id) && !connection.isLost) connection.write(connection.command("DEL", this.#keyOf(id)));
  }

  /** Renews the keys if enough time has passed. */
  renew(): void {
    if (performance.now() - this.#refreshedAt >= REFRESH_MS) this.restore();
  }

  /** Writes all values again. */
  restore(): void {
    this.#refreshedAt = performance.now();
    for (const [id, text] of this.#own) this.#write(id, text);
  }

  release(): void {
    for (const id of Array.from(this.#own.keys())) this.remove(id);
  }

  #write(id: string, text: string): void {
    const { connection } = this.#parts;
    connection.write(connection.command("SET", this.#keyOf(id), text, "PX", KEY_TTL_MS));
  }

  #keyOf(id: string): string {
    return `${this.#parts.prefix}{${id}}`;
  }
}

/** Directory of the sessions of all hubs. Adds and removes entries of one hub. */
export class RedisSessionRecords implements SessionRecords {
  readonly keys: HeldKeys;

  constructor(parts: HeldParts) {
    this.keys = new HeldKeys(parts);
  }

  put(id: string, record: SessionRecord): void {
    this.keys.put(id, record);
  }

  async find(id: string): Promise<HeldSession | undefined> {
    const held = await this.keys.find(id);
    return held && { hub: held.hub, record: held.value as SessionRecord };
  }

  remove(id: string): void {
    this.keys.remove(id);
  }
}

/** Directory of the parked calls of all hubs. Adds and removes entries of one hub. */
export class RedisParkedDirectory implements ParkedDirectory {
  readonly keys: HeldKeys;

  constructor(parts: HeldParts) {
    this.keys = new HeldKeys(parts);
  }

  put(id: string): void {
    this.keys.put(id, true);
  }

  async find(id: string): Promise<string | undefined> {
    return (await this.keys.find(id))?.hub;
  }

  remove(id: string): void {
    this.keys.remove(id);
  }
}
