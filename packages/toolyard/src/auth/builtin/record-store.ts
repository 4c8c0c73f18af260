import { createHash, randomBytes } from "node:crypto";
import { mkdir, readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { isJsonObject, type JsonObject } from "../../core/json/json.ts";
import { writeWhole } from "../../files/write-whole.ts";

/** One record of the authorization server: a token, a grant, a session, a registration. */
export interface StoredRecord {
  readonly payload: JsonObject;
  /** Milliseconds since 1970. Absent: the record does not expire. */
  readonly expiresAt?: number;
}

/** Maximum number of records of one model; the oldest is removed. */
const MAX_RECORDS = 10_000;
/** Members that repeat the record's id. They are not stored on disk, because for a token the id is the token itself. */
const ID_MEMBERS = ["jti"];
/**
 * Prefix of an alias, which is an id that represents a digest. It is random, so that no client can send an alias as a
 * token.
 */
const ALIAS = `${randomBytes(32).toString("hex")}:`;
const FILE = /^[0-9a-f]{64}\.json$/;

/**
 * Records of one model, in memory and on disk. A file is named after the digest of its record's id and does not contain
 * the id, so that the folder reveals no token. Files are replaced atomically; incomplete and foreign files are ignored.
 */
export class RecordStore {
  readonly #folder: string;
  readonly #records = new Map<string, StoredRecord>();
  readonly #now: () => number;
  #loading: Promise<void> | undefined;

  constructor(folder: string, now: () => number) {
    this.#folder = folder;
    this.#now = now;
  }

  async find(id: string): Promise<JsonObject | undefined> {
    await this.#load();
    return this.findByDigest(digestForId(id), id);
  }

  /** Returns the payload of the record with this digest, with `id` as its `jti`. The records must be loaded. */
  findByDigest(digest: string, id?: string): JsonObject | undefined {
    const record = this.#records.get(digest);
    if (!record || isOver(record, this.#now())) return undefined;
    return id === undefined ? record.payload : { ...record.payload, jti: id };
  }

  /** Returns the first record that matches, without its id. */
  async search(matches: (payload: JsonObject) => boolean): Promise<JsonObject | undefined> {
    await this.#load();
    for (const record of this.#records.values())
      if (!isOver(record, this.#now()) && matches(record.payload)) return record.payload;
    return undefined;
  }

  /** Returns the first record that matches. Its id is an alias, by which the record can be changed. */
  async searchWithAlias(matches: (payload: JsonObject) => boolean): Promise<JsonObject | undefined> {
    await this.#load();
    for (const [digest, record] of this.#records)
      if (!isOver(record, this.#now()) && matches(record.payload)) return { ...record.payload, jti: aliasOf(digest) };
    return undefined;
  }

  /** Resolves when the record is on disk. Rejects with the system's error; the previous record then stays. */
  async write(id: string, payload: JsonObject, expiresAt?: number): Promise<void> {
    await this.#load();
    const digest = digestForId(id);
    const kept = Object.fromEntries(Object.entries(payload).filter(([name]) => !ID_MEMBERS.includes(name)));
    const record: StoredRecord = { payload: kept, ...(expiresAt !== undefined && { expiresAt }) };
    await writeWhole(this.#fileOf(digest), JSON.stringify(record));
    this.#records.delete(digest);
    this.#records.set(digest, record);
    await this.#dropOldest();
  }

  /**
   * Records that a one-time id is used. Resolves to false if it was used before. Rejects if it cannot be written, or if
   * there are `MAX_RECORDS` ids: removing one would allow its second use.
   */
  async claim(id: string, expiresAt: number): Promise<boolean> {
    await this.#load();
    const digest = digestOf(id);
    const known = this.#records.get(digest);
    if (known && !isOver(known, this.#now())) return false;
    this.#records.delete(digest);
    if (this.#records.size >= MAX_RECORDS) await this.sweep();
    if (this.#records.size >= MAX_RECORDS) throw new Error(`There are ${MAX_RECORDS} ids that were used recently.`);
    if (this.#records.has(digest)) return false;
    const record: StoredRecord = { payload: {}, expiresAt };
    // A concurrent use must see the id before it is on disk.
    this.#records.set(digest, record);
    await writeWhole(this.#fileOf(digest), JSON.stringify(record));
    return true;
  }

  async remove(id: string): Promise<void> {
    await this.#load();
    await this.#drop(digestForId(id));
  }

  async removeWhere(matches: (payload: JsonObject) => boolean): Promise<void> {
    await this.#load();
    const digests = Array.from(this.#records).filter(([, { payload }]) => matches(payload));
    await Promise.all(digests.map(([digest]) => this.#drop(digest)));
  }

  /** Removes the expired records. */
  async sweep(): Promise<void> {
    await this.#load();
    const now = this.#now();
    const over = Array.from(this.#records).filter(([, record]) => isOver(record, now));
    await Promise.all(over.map(([digest]) => this.#drop(digest)));
  }

  load(): Promise<void> {
    return this.#load();
  }

  async #drop(digest: string): Promise<void> {
    this.#records.delete(digest);
    await rm(this.#fileOf(digest), { force: true });
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

  #fileOf(digest: string): string {
    return join(this.#folder, `${digest}.json`);
  }
}

export function digestOf(id: string): string {
  return createHash("sha256").update(id).digest("hex");
}

/** Returns an id that stands for a digest in this process. It must not be stored, because it works like the token. */
export function aliasOf(digest: string): string {
  return `${ALIAS}${digest}`;
}

/** Returns the digest of an id or of an alias. */
export function digestForId(id: string): string {
  return id.startsWith(ALIAS) ? id.slice(ALIAS.length) : digestOf(id);
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
