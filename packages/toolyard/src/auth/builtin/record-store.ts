import { createHash, randomBytes } from "node:crypto";
import type { JsonObject } from "../../core/json/json.ts";
import type { AuthRecords, FamilyMember, LookupMember, RecordUse, ReuseRule } from "../../state/ports/auth-state.ts";

/** Members that repeat the record's id. They are not stored, because for a token the id is the token itself. */
const ID_MEMBERS = ["jti"];
/**
 * Prefix of an alias, which is an id that represents a digest. It is random, so that no client can send an alias as a
 * token.
 */
const ALIAS = `${randomBytes(32).toString("hex")}:`;

/** Records of one model by their ids. Only the digest of an id is stored. */
export class RecordStore {
  readonly #records: AuthRecords;
  readonly #onRemoved: (keys: readonly string[]) => void;

  /** `onRemoved` receives the digests of removed records. */
  constructor(records: AuthRecords, onRemoved: (keys: readonly string[]) => void = () => {}) {
    this.#records = records;
    this.#onRemoved = onRemoved;
  }

  async find(id: string): Promise<JsonObject | undefined> {
    const payload = await this.#records.find(digestForId(id));
    return payload && { ...payload, jti: id };
  }

  /** Returns the record with this value, without its id. */
  async search(member: LookupMember, value: string): Promise<JsonObject | undefined> {
    return (await this.#records.findBy(member, value))?.payload;
  }

  /** Returns the record with this value, with an id by which it can be changed. */
  async searchWithAlias(member: LookupMember, value: string): Promise<JsonObject | undefined> {
    const found = await this.#records.findBy(member, value);
    return found && { ...found.payload, jti: aliasOf(found.key) };
  }

  /** Resolves when the record is stored. Rejects if it cannot be stored; the previous record then stays. */
  async write(id: string, payload: JsonObject, expiresAt?: number): Promise<void> {
    const kept = Object.fromEntries(Object.entries(payload).filter(([name]) => !ID_MEMBERS.includes(name)));
    await this.#records.write(digestForId(id), kept, expiresAt);
  }

  /** Uses a record in one step. */
  use(id: string, rule: ReuseRule): Promise<RecordUse> {
    return this.#records.use(digestForId(id), rule);
  }

  /** Records that a one-time id is used. Resolves to false if it was used before. */
  claim(id: string, expiresAt: number): Promise<boolean> {
    return this.#records.claim(digestOf(id), expiresAt);
  }

  /** Finds and removes a record in one step. */
  take(id: string): Promise<JsonObject | undefined> {
    return this.#records.take(digestForId(id));
  }

  async remove(id: string): Promise<void> {
    const key = digestForId(id);
    await this.#records.remove(key);
    this.#onRemoved([key]);
  }

  async removeBy(member: FamilyMember, value: string): Promise<void> {
    const keys = await this.#records.removeBy(member, value);
    if (keys.length > 0) this.#onRemoved(keys);
  }

  /** Removes the expired records. */
  sweep(): Promise<void> {
    return this.#records.sweep();
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
