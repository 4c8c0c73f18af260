import { mkdir, readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { isJsonObject, type JsonObject } from "../../../core/json/json.ts";
import { writeWhole } from "../../../files/write-whole.ts";
import {
  GrantRevokedError,
  type AuthRecords,
  type FamilyMember,
  type KeyedRecord,
  type LookupMember,
  type RecordUse,
  type ReuseRule,
} from "../../../state/ports/auth-state.ts";

interface StoredRecord {
  readonly payload: JsonObject;
  /** Milliseconds since 1970. Absent: the record does not expire. */
  readonly expiresAt?: number;
}

/** Maximum number of records of one model; the oldest is removed. */
const MAX_RECORDS = 10_000;
/** Maximum number of revoked grants that are remembered for writes that are running meanwhile. */
const MAX_REVOKED = 1000;
const FILE = /^[0-9a-f]{64}\.json$/;

/**
 * Records of one model, in memory and on disk. A file is named after the key of its record, which is a digest, so that
 * the folder reveals no token. Files are replaced atomically; incomplete and foreign files are ignored.
 */
export class JournalRecords implements AuthRecords {
  readonly #folder: string;
  readonly #records = new Map<string, StoredRecord>();
  readonly #revoked = new Set<string>();
  readonly #now: () => number;
  #loading: Promise<void> | undefined;

  constructor(folder: string, now: () => number) {
    this.#folder = folder;
    this.#now = now;
  }

  async find(key: string): Promise<JsonObject | undefined> {
    await this.#load();
    return this.#current(key)?.payload;
  }

  async findBy(member: LookupMember, value: string): Promise<KeyedRecord | undefined> {
    await this.#load();
    for (const [key, { payload }] of this.#records)
      if (payload[member] === value && this.#current(key)) return { key, payload };
    return undefined;
  }

  async write(key: string, payload: JsonObject, expiresAt?: number): Promise<void> {
    await this.#load();
    const record: StoredRecord = { payload, ...(expiresAt !== undefined && { expiresAt }) };
    await writeWhole(this.#fileOf(key), JSON.stringify(record));
    this.#records.delete(key);
    this.#records.set(key, record);
    if (this.#revoked.has(String(payload["grantId"]))) {
      await this.remove(key);
      throw new GrantRevokedError();
    }
    await this.#dropOldest();
  }

  async use(key: string, { graceMs, maxUses }: ReuseRule): Promise<RecordUse> {
    await this.#load();
    const before = this.#current(key);
    if (!before) return "missing";
    const { consumed, graceUses = 0 } = before.payload;
    if (typeof consumed !== "number")
      return this.#replaceUsed(key, before, { ...before.payload, consumed: Math.floor(this.#now() / 1000) });
    if (this.#now() - consumed * 1000 > graceMs || Number(graceUses) >= maxUses) return "reused";
    return this.#replaceUsed(key, before, { ...before.payload, graceUses: Number(graceUses) + 1 });
  }

  /**
   * Rejects if the id cannot be written, or if there are `MAX_RECORDS` ids: removing one would allow its second use.
   */
  async claim(key: string, expiresAt: number): Promise<boolean> {
    await this.#load();
    if (this.#current(key)) return false;
    this.#records.delete(key);
    if (this.#records.size >= MAX_RECORDS) await this.sweep();
    if (this.#records.size >= MAX_RECORDS) throw new Error(`There are ${MAX_RECORDS} ids that were used recently.`);
    if (this.#records.has(key)) return false;
    const record: StoredRecord = { payload: {}, expiresAt };
    // A concurrent use must see the id before it is on disk.
    this.#records.set(key, record);
    await writeWhole(this.#fileOf(key), JSON.stringify(record));
    return true;
  }

  async take(key: string): Promise<JsonObject | undefined> {
    await this.#load();
    const found = this.#current(key);
    if (found) await this.#drop(key);
    return found?.payload;
  }

  async remove(key: string): Promise<void> {
    await this.#load();
    await this.#drop(key);
  }

  async removeBy(member: FamilyMember, value: string): Promise<readonly string[]> {
    await this.#load();
    if (member === "grantId") this.#rememberRevoked(value);
    const found = Array.from(this.#records).filter(([, { payload }]) => payload[member] === value);
    const keys = found.map(([key]) => key);
    await Promise.all(keys.map((key) => this.#drop(key)));
    return keys;
  }

  async sweep(): Promise<void> {
    await this.#load();
    const over = Array.from(this.#records.keys()).filter((key) => !this.#current(key));
    await Promise.all(over.map((key) => this.#drop(key)));
  }

  #current(key: string): StoredRecord | undefined {
    const record = this.#records.get(key);
    return record && !isOver(record, this.#now()) ? record : undefined;
  }

  /** Stores the use of a record. A concurrent use must see it before it is on disk; a failed write cancels it. */
  async #replaceUsed(key: string, before: StoredRecord, payload: JsonObject): Promise<RecordUse> {
    const after: StoredRecord = { ...before, payload };
    this.#records.set(key, after);
    try {
      await writeWhole(this.#fileOf(key), JSON.stringify(after));
    } catch (error) {
      if (this.#records.get(key) === after) this.#records.set(key, before);
      throw error;
    }
    // The record was removed while it was written.
    if (!this.#records.has(key)) await rm(this.#fileOf(key), { force: true });
    return this.#records.has(key) ? "used" : "missing";
  }

  #rememberRevoked(grantId: string): void {
    if (this.#revoked.size >= MAX_REVOKED) this.#revoked.delete(this.#revoked.keys().next().value!);
    this.#revoked.add(grantId);
  }

  async #drop(key: string): Promise<void> {
    this.#records.delete(key);
    await rm(this.#fileOf(key), { force: true });
  }

  async #dropOldest(): Promise<void> {
    if (this.#records.size > MAX_RECORDS) await this.#drop(this.#records.keys().next().value!);
  }

  #load(): Promise<void> {
    return (this.#loading ??= this.#read());
  }

  async #read(): Promise<void> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    for (const name of await readdir(this.#folder)) {
      if (!FILE.test(name)) continue;
      const record = parseRecord(await readFile(join(this.#folder, name), "utf8").catch(() => ""));
      if (record && !isOver(record, this.#now())) this.#records.set(name.slice(0, -".json".length), record);
      else await rm(join(this.#folder, name), { force: true });
    }
  }

  #fileOf(key: string): string {
    return join(this.#folder, `${key}.json`);
  }
}

function isOver({ expiresAt }: StoredRecord, now: number): boolean {
  return expiresAt !== undefined && expiresAt <= now;
}

function parseRecord(text: string): StoredRecord | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) && isJsonObject(value["payload"]) ? (value as unknown as StoredRecord) : undefined;
  } catch {
    return undefined;
  }
}
