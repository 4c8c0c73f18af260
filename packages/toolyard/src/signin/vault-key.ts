import { createHash, randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { KEY_BYTES, keyIn, parseKey } from "../core/shared-key.ts";
import { writeWhole } from "../files/write-whole.ts";
import { systemKeyring, type Keyring } from "./keyring.ts";

/** The store of the vault's key. */
export type KeyStore = "environment" | "file" | "keyring";

export interface KeyPlace {
  readonly folder: string;
  readonly variables: Readonly<Record<string, string | undefined>>;
  /**
   * True if a user is at a terminal, so that the system's keyring may be chosen for a new vault. Background processes
   * only open the chosen store. @default false
   */
  readonly isAttended?: boolean;
  /** The keyring. @default the system's */
  readonly keyring?: Keyring;
}

export interface ChosenKey {
  readonly store: KeyStore;
  readonly key: Buffer;
}

export function isKeyStore(store: unknown): store is KeyStore {
  return store === "environment" || store === "file" || store === "keyring";
}

/** Returns the key of the chosen store; `undefined` if it is missing. Throws an `OptionError` for an invalid key. */
export async function findKey(store: KeyStore, place: KeyPlace): Promise<Buffer | undefined> {
  if (store === "environment") return keyIn(place.variables);
  const text =
    store === "keyring"
      ? await keyringOf(place).read(keyringName(place))
      : await readFile(keyFile(place), "utf8").catch(() => undefined);
  return text === undefined ? undefined : parseKey(text.trim());
}

/** Chooses a store for a new vault, and creates a key in it. */
export async function makeKey(place: KeyPlace): Promise<ChosenKey> {
  const given = keyIn(place.variables);
  if (given) return { store: "environment", key: given };
  // The file may already contain a key that another process has created, or the key of an older vault.
  const known = await findKey("file", place);
  if (known) return { store: "file", key: known };
  const kept = place.isAttended ? await keptInKeyring(place) : undefined;
  if (kept) return { store: "keyring", key: kept };
  const key = randomBytes(KEY_BYTES);
  await writeWhole(keyFile(place), `${key.toString("base64")}\n`);
  return { store: "file", key };
}

/**
 * Creates a key in the keyring. Returns it only if a process without a terminal, like a hub, can read it back;
 * `undefined` otherwise.
 */
async function keptInKeyring(place: KeyPlace): Promise<Buffer | undefined> {
  const before = await findKey("keyring", place);
  // An existing key is kept, because a vault that was moved aside may use it.
  if (before) return before;
  const key = randomBytes(KEY_BYTES);
  const [keyring, name, text] = [keyringOf(place), keyringName(place), key.toString("base64")];
  return (await keyring.write(name, text)) && (await keyring.read(name)) === text ? key : undefined;
}

function keyringOf({ variables, keyring = systemKeyring(variables) }: KeyPlace): Keyring {
  return keyring;
}

/** Returns the name of the key in the keyring. Each data folder has its own key. */
export function keyringName({ folder }: Pick<KeyPlace, "folder">): string {
  return `vault ${createHash("sha256").update(resolve(folder)).digest("hex").slice(0, 16)}`;
}

/** Returns an id that distinguishes keys and reveals nothing about them. */
export function keyId(key: Buffer): string {
  return createHash("sha256").update("toolyard vault key\0").update(key).digest("hex").slice(0, 16);
}

export function keyFile({ folder }: Pick<KeyPlace, "folder">): string {
  return join(folder, "key");
}
