import { createHash, randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { OptionError } from "../core/errors.ts";
import { writeWhole } from "../files/write-whole.ts";
import { systemKeyring, type Keyring } from "./keyring.ts";

/** Where the vault's key is kept. */
export type KeyStore = "environment" | "file" | "keyring";

export const KEY_VARIABLE = "TOOLYARD_VAULT_KEY";
const KEY_BYTES = 32;

export interface KeyPlace {
  readonly folder: string;
  readonly variables: Readonly<Record<string, string | undefined>>;
  /**
   * Somebody sits at a terminal: the system's keyring may be chosen for a vault that is about to be made. What runs by
   * itself only opens the store that was chosen. @default false
   */
  readonly isAttended?: boolean;
  /** @default the system's */
  readonly keyring?: Keyring;
}

export interface ChosenKey {
  readonly store: KeyStore;
  readonly key: Buffer;
}

export function isKeyStore(store: unknown): store is KeyStore {
  return store === "environment" || store === "file" || store === "keyring";
}

/** The key of a store that was chosen before; nothing where it is not there. Throws an `OptionError` for no key. */
export async function findKey(store: KeyStore, place: KeyPlace): Promise<Buffer | undefined> {
  if (store === "environment") return keyIn(place.variables);
  const text =
    store === "keyring"
      ? await keyringOf(place).read(keyringName(place))
      : await readFile(keyFile(place), "utf8").catch(() => undefined);
  return text === undefined ? undefined : parseKey(text.trim());
}

/** Chooses a store for a vault that is about to be made, and has a key in it. */
export async function makeKey(place: KeyPlace): Promise<ChosenKey> {
  const given = keyIn(place.variables);
  if (given) return { store: "environment", key: given };
  // What another process has put there in the meantime, or what an older vault was kept by.
  const known = await findKey("file", place);
  if (known) return { store: "file", key: known };
  const kept = place.isAttended ? await keptInKeyring(place) : undefined;
  if (kept) return { store: "keyring", key: kept };
  const key = randomBytes(KEY_BYTES);
  await writeWhole(keyFile(place), `${key.toString("base64")}\n`);
  return { store: "file", key };
}

/** A key that a process without a terminal, as a hub is one, has read back; nothing where the keyring does not work. */
async function keptInKeyring(place: KeyPlace): Promise<Buffer | undefined> {
  const before = await findKey("keyring", place);
  // A vault that was put aside may be made with it.
  if (before) return before;
  const key = randomBytes(KEY_BYTES);
  const [keyring, name, text] = [keyringOf(place), keyringName(place), key.toString("base64")];
  return (await keyring.write(name, text)) && (await keyring.read(name)) === text ? key : undefined;
}

function keyringOf({ variables, keyring = systemKeyring(variables) }: KeyPlace): Keyring {
  return keyring;
}

/** Each data folder has a key of its own. */
export function keyringName({ folder }: Pick<KeyPlace, "folder">): string {
  return `vault ${createHash("sha256").update(resolve(folder)).digest("hex").slice(0, 16)}`;
}

/** Tells keys apart, and says nothing of them. */
export function keyId(key: Buffer): string {
  return createHash("sha256").update("toolyard vault key\0").update(key).digest("hex").slice(0, 16);
}

export function keyFile({ folder }: Pick<KeyPlace, "folder">): string {
  return join(folder, "key");
}

function keyIn(variables: KeyPlace["variables"]): Buffer | undefined {
  const text = variables[KEY_VARIABLE]?.trim();
  if (!text) return undefined;
  const key = parseKey(text);
  if (key) return key;
  throw new OptionError(
    `${KEY_VARIABLE} must be ${KEY_BYTES} random bytes in base64, as \`openssl rand -base64 ${KEY_BYTES}\` makes ` +
      "them. Its value is not shown.",
  );
}

function parseKey(text: string): Buffer | undefined {
  const key = Buffer.from(text, "base64");
  return key.length === KEY_BYTES ? key : undefined;
}
