import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";
import { mkdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { codeOf, FailError, messageOf } from "../core/errors.ts";
import { isJsonObject, stringMember, type JsonObject } from "../core/json/json.ts";
import { fail } from "../core/calls/outcome.ts";
import { KEY_VARIABLE } from "../core/shared-key.ts";
import { withFileLock } from "../files/file-lock.ts";
import { readText } from "../files/read-text.ts";
import { renameFile } from "../files/rename.ts";
import { writeWhole } from "../files/write-whole.ts";
import { recordKeyText, type RecordKey, type SignInRecord } from "./records.ts";
import { REDEEM_WAIT_MS, type SignInVault } from "./vault-port.ts";
import { vaultFile } from "./vault-place.ts";
import {
  findKey,
  isKeyStore,
  keyId,
  keyFile,
  makeKey,
  type ChosenKey,
  type KeyPlace,
  type KeyStore,
} from "./vault-key.ts";

type Records = Readonly<Record<string, SignInRecord>>;

const VERSION = 1;
const CIPHER = "aes-256-gcm";
const IV_BYTES = 12;
/** Maximum number of records, which is more sign-ins than any user has. */
const MAX_RECORDS = 10_000;

interface VaultContent {
  /** Changes whenever the file changes. */
  readonly stamp: string;
  readonly records: Records;
}

/**
 * Sign-ins in one encrypted file, shared by all processes of this data folder. The file's header names the store of its
 * key; a missing key is never replaced with another one. Methods reject with a `FailError` of kind
 * `needs_authorisation` while the vault is locked.
 */
export class Vault implements SignInVault {
  readonly #place: KeyPlace;
  readonly #file: string;
  readonly #onAside: (path: string) => void;
  #read: VaultContent | undefined;
  /** The key that was read last. It is cached, because reading a keyring starts a process. */
  #key: { readonly id: string; readonly key: Buffer } | undefined;

  /** `onAside` receives the new path of a file that was moved aside because it was not a vault. */
  constructor(place: KeyPlace, onAside: (path: string) => void) {
    this.#place = place;
    this.#file = vaultFile(place.folder);
    this.#onAside = onAside;
  }

  async find(key: RecordKey): Promise<SignInRecord | undefined> {
    return (await usable(this.#records()))[recordKeyText(key)];
  }

  async all(): Promise<readonly SignInRecord[]> {
    return Object.values(await usable(this.#records()));
  }

  async update(
    key: RecordKey,
    change: (record: SignInRecord | undefined) => SignInRecord | undefined,
  ): Promise<SignInRecord | undefined> {
    const work = async (): Promise<SignInRecord | undefined> => {
      const records = await this.#recordsForWriting();
      const text = recordKeyText(key);
      const before = records[text];
      const after = change(before);
      if (after === before) return after;
      const { [text]: _, ...others } = records;
      if (after && Object.keys(others).length >= MAX_RECORDS)
        throw new FailError(fail("limited", `The vault holds ${MAX_RECORDS} sign-ins, which is its limit.`));
      await this.#write(after ? { ...others, [text]: after } : others);
      return after;
    };
    return usable(this.#locked(work));
  }

  async exclusively<T>(name: string, work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    await mkdir(this.#place.folder, { recursive: true, mode: 0o700 });
    const path = join(this.#place.folder, `${name}.lock`);
    return withFileLock(path, work, { waitMs: REDEEM_WAIT_MS, ...(signal && { signal }) });
  }

  async #locked<T>(work: () => Promise<T>): Promise<T> {
    await mkdir(this.#place.folder, { recursive: true, mode: 0o700 });
    return withFileLock(`${this.#file}.lock`, work);
  }

  async #records(): Promise<Records> {
    const records = await this.#readable();
    if (records) return records;
    try {
      // The file is read again under the lock, because another process may have replaced an invalid file.
      return await this.#locked(() => this.#recordsForWriting());
    } catch (error) {
      if (error instanceof FailError) throw error;
      const words = `${this.#file} is not a vault, and could not be moved aside: ${messageOf(error)}. Move it away.`;
      throw new FailError(fail("needs_authorisation", words, { details: { sent: false } }));
    }
  }

  /** Reads the records; the caller holds the lock. A damaged or foreign file is moved aside for the user. */
  async #recordsForWriting(): Promise<Records> {
    const records = await this.#readable();
    if (records) return records;
    const aside = `${this.#file}.unreadable-${randomBytes(4).toString("hex")}`;
    await renameFile(this.#file, aside);
    this.#onAside(aside);
    return {};
  }

  /** Reads the records. Returns `undefined` if the file is no vault. */
  async #readable(): Promise<Records | undefined> {
    const stamp = await stampOf(this.#file);
    if (stamp === undefined) return {};
    if (this.#read?.stamp === stamp) return this.#read.records;
    const text = await readText(this.#file).catch((error: NodeJS.ErrnoException) => {
      // The file does not exist any more, because another process has moved it aside.
      if (error.code === "ENOENT") return undefined;
      throw error;
    });
    if (text === undefined) return {};
    const records = await this.#open(text);
    if (records) this.#read = { stamp, records };
    return records;
  }

  async #open(text: string): Promise<Records | undefined> {
    const sealed = parseObject(text);
    const head = sealed && headOf(sealed);
    return sealed && head && unseal(sealed, head, await this.#keyOf(head));
  }

  async #write(records: Records): Promise<void> {
    const { store, key } = await this.#ownKey();
    await writeWhole(this.#file, seal(records, { version: VERSION, store, keyId: keyId(key) }, key));
    const stamp = await stampOf(this.#file);
    this.#read = stamp === undefined ? undefined : { stamp, records };
  }

  async #ownKey(): Promise<ChosenKey> {
    const text = await readFile(this.#file, "utf8").catch(() => undefined);
    const sealed = text === undefined ? undefined : parseObject(text);
    const head = sealed && headOf(sealed);
    return head ? { store: head.store, key: await this.#keyOf(head) } : makeKey(this.#place);
  }

  /**
   * Returns the key from the chosen store. Rejects with a `FailError` if it is missing there; no other key is used or
   * created.
   */
  async #keyOf({ store, keyId: id }: VaultHeader): Promise<Buffer> {
    if (this.#key?.id === id) return this.#key.key;
    const key = await findKey(store, this.#place);
    if (!key || keyId(key) !== id) throw locked(store, this.#place);
    this.#key = { id, key };
    return key;
  }
}

interface VaultHeader {
  readonly version: number;
  readonly store: KeyStore;
  readonly keyId: string;
}

async function stampOf(path: string): Promise<string | undefined> {
  const stats = await stat(path, { bigint: true }).catch(() => undefined);
  return stats && `${stats.ino} ${stats.size} ${stats.mtimeNs}`;
}

function parseObject(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function headOf(sealed: JsonObject): VaultHeader | undefined {
  const { version, store, keyId: id } = sealed;
  const isOurs = version === VERSION && isKeyStore(store) && typeof id === "string";
  return isOurs ? { version, store, keyId: id } : undefined;
}

/** Encrypts the records. The header is authenticated too, so that an attacker cannot change it to another store. */
function seal(records: Records, head: VaultHeader, key: Buffer): string {
  const iv = randomBytes(IV_BYTES);
  const cipher = createCipheriv(CIPHER, key, iv);
  cipher.setAAD(Buffer.from(JSON.stringify(head)));
  const data = Buffer.concat([cipher.update(JSON.stringify(records), "utf8"), cipher.final()]);
  const [ivText, tag, dataText] = [iv, cipher.getAuthTag(), data].map((part) => part.toString("base64"));
  return `${JSON.stringify({ ...head, iv: ivText, tag, data: dataText })}\n`;
}

function unseal(sealed: JsonObject, head: VaultHeader, key: Buffer): Records | undefined {
  try {
    const [iv, tag, data] = ["iv", "tag", "data"].map((name) => Buffer.from(stringMember(sealed, name)!, "base64"));
    const decipher = createDecipheriv(CIPHER, key, iv!, { authTagLength: 16 });
    decipher.setAAD(Buffer.from(JSON.stringify(head)));
    decipher.setAuthTag(tag!);
    return JSON.parse(`${decipher.update(data!, undefined, "utf8")}${decipher.final("utf8")}`) as Records;
  } catch {
    return undefined;
  }
}

/** Converts an error of the file system, such as a folder at the path of the file, to a failure with advice. */
async function usable<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    const code = codeOf(error);
    if (error instanceof FailError || code === undefined) throw error;
    const words =
      `the vault cannot be used (${code}): \`vault/vault.json\` of the data folder must be a file that this user may ` +
      "read and write. Move the other file away, or repair its permissions.";
    throw new FailError(fail("needs_authorisation", words, { details: { sent: false }, cause: error }));
  }
}

function locked(store: KeyStore, place: KeyPlace): FailError {
  const ways: Record<KeyStore, string> = {
    environment: `the key with which it was encrypted is not in the variable ${KEY_VARIABLE}. Put it back.`,
    file: `the key with which it was encrypted is not in ${keyFile(place)}. Put it back.`,
    keyring:
      "the system's keyring does not return the key with which it was encrypted. Unlock it, or start the " +
      "hub where it is.",
  };
  return new FailError(
    fail("needs_authorisation", `the vault is locked: ${ways[store]}`, { details: { sent: false } }),
  );
}
