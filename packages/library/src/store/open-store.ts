import { mkdir, readdir, stat } from "node:fs/promises";
import { dirname, join, parse } from "node:path";
import { fileURLToPath } from "node:url";
import { OptionError } from "toolyard";
import { storeFailure } from "./store-failure.ts";
import type { LibraryStore } from "./store.ts";
import { firstChars } from "toolyard/text";

export const STORE_FORMS =
  "sqlite:///folder/library.db, postgres://user:password@host/database or weaviate+http://host:8080, each with " +
  "?collection=name for one of several libraries";

/** Name of the collection that is used if none is configured. */
export const DEFAULT_COLLECTION = "main";
const COLLECTION = /^[a-z][a-z0-9_]{0,30}$/;

/** Address of a library: a file, or a collection on a server. */
export type StoreAddress =
  | { readonly kind: "sqlite"; readonly file: string }
  | { readonly kind: "postgres" | "weaviate"; readonly url: URL; readonly collection: string };

/**
 * Parses a store address. Throws an `OptionError` if the text is not a store address. The message contains no password.
 */
export function parseStore(text: string): StoreAddress {
  if (!URL.canParse(text)) throw wrong(text);
  const url = new URL(text);
  const collection = url.searchParams.get("collection") ?? DEFAULT_COLLECTION;
  expectCollection(collection);
  url.searchParams.delete("collection");
  if (url.protocol === "sqlite:") {
    if (url.hostname !== "" || url.pathname.length < 2) throw wrong(text);
    return { kind: "sqlite", file: fileOf(fileURLToPath(`file://${url.pathname}`), collection) };
  }
  // An unescaped / in a password ends the host name, and the rest of the password would be shown as a path.
  if (`${url.pathname}${url.search}${url.hash}`.includes("@")) throw wrong(text);
  if (/^postgres(?:ql)?:$/.test(url.protocol)) return { kind: "postgres", url, collection };
  const http = /^weaviate\+(https?:)$/.exec(url.protocol)?.[1];
  if (http === undefined) throw wrong(text);
  return { kind: "weaviate", url: new URL(`${http}${url.href.slice(url.protocol.length)}`), collection };
}

/** Returns the address of another collection in the same store. Throws an `OptionError` for an invalid name. */
export function inCollection(store: string, collection: string): string {
  expectCollection(collection);
  parseStore(store);
  const url = new URL(store);
  url.searchParams.set("collection", collection);
  return url.href;
}

/** Returns the collection of an address that `parseStore` accepts. */
export function collectionOf(store: string): string {
  return new URL(store).searchParams.get("collection") ?? DEFAULT_COLLECTION;
}

function expectCollection(collection: string): void {
  if (COLLECTION.test(collection)) return;
  throw new OptionError(
    "The collection must be named by up to 31 small letters, digits and underscores, such as scholars, got " +
      `${JSON.stringify(firstChars(collection, 200))}.`,
  );
}

/** Each collection has a separate file: `library.db`, and next to it `library.scholars.db`. */
function fileOf(file: string, collection: string): string {
  const { dir, name, ext } = parse(file);
  return collection === DEFAULT_COLLECTION ? file : join(dir, `${name}.${collection}${ext}`);
}

function wrong(text: string): OptionError {
  // An invalid address may contain a password too, with any character in it.
  const [start, end] = [text.indexOf("//"), text.lastIndexOf("@")];
  const shown = start === -1 || end < start ? text : `${text.slice(0, start)}//***${text.slice(end)}`;
  const advice = shown === text ? "" : " In a password, write the characters / # ? @ as %2F %23 %3F %40.";
  return new OptionError(`A store address must have the form ${STORE_FORMS}, got ${JSON.stringify(shown)}.${advice}`);
}

/** Opens a library, and creates it if it does not exist. Rejects with `STORE_UNAVAILABLE` if that fails. */
export async function openStore(address: StoreAddress): Promise<LibraryStore> {
  switch (address.kind) {
    case "sqlite": {
      if (address.file !== ":memory:") await makeFolder(dirname(address.file));
      return (await import("./sqlite/sqlite.ts")).openSqliteStore(address.file);
    }
    case "postgres":
      return (await import("./postgres/postgres.ts")).openPostgresStore(address.url, address.collection);
    case "weaviate":
      return (await import("./weaviate/weaviate.ts")).openWeaviateStore(address.url, address.collection);
  }
}

/** Returns whether the library exists. Rejects with `STORE_UNAVAILABLE`. */
export async function isStoreThere(address: StoreAddress): Promise<boolean> {
  switch (address.kind) {
    case "sqlite":
      return isThere(address.file);
    case "postgres":
      return (await import("./postgres/postgres.ts")).isPostgresStoreThere(address.url, address.collection);
    case "weaviate":
      return (await import("./weaviate/weaviate.ts")).isWeaviateStoreThere(address.url, address.collection);
  }
}

/** Returns the names of the collections in a store, sorted. Creates none. Rejects with `STORE_UNAVAILABLE`. */
export async function collectionsIn(store: string): Promise<string[]> {
  const main = parseStore(inCollection(store, DEFAULT_COLLECTION));
  return (await namesIn(main)).filter((name) => COLLECTION.test(name)).toSorted();
}

async function namesIn(main: StoreAddress): Promise<string[]> {
  switch (main.kind) {
    case "sqlite":
      return namesBeside(main.file);
    case "postgres":
      return (await import("./postgres/postgres.ts")).postgresCollections(main.url);
    case "weaviate":
      return (await import("./weaviate/weaviate.ts")).weaviateCollections(main.url);
  }
}

/** Returns the collections whose files are in the same folder as that of the default collection. */
async function namesBeside(main: string): Promise<string[]> {
  const { dir, base, name, ext } = parse(main);
  const entries = await readdir(dir, { withFileTypes: true }).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT" || error.code === "ENOTDIR") return [];
    throw storeFailure("unavailable", `${dir} cannot be listed: ${error.message}.`, error);
  });
  const files = entries.filter((entry) => !entry.isDirectory()).map((entry) => entry.name);
  const named = files.filter((file) => file.startsWith(`${name}.`) && file.endsWith(ext) && file !== base);
  return [
    ...(files.includes(base) ? [DEFAULT_COLLECTION] : []),
    ...named
      .map((file) => file.slice(name.length + 1, file.length - ext.length))
      .filter((collection) => collection !== DEFAULT_COLLECTION),
  ];
}

/**
 * Creates the folder and its parents, one by one: Node's recursive `mkdir` never returns on file systems that allow no
 * folders, such as /proc.
 */
async function makeFolder(folder: string): Promise<void> {
  if (await isThere(folder)) return;
  if (dirname(folder) !== folder) await makeFolder(dirname(folder));
  await mkdir(folder, { mode: 0o700 }).catch(async (error: unknown) => {
    // Another process may have created the folder meanwhile.
    if (await isThere(folder)) return;
    const { message } = error as Error;
    throw storeFailure("unavailable", `${folder} cannot be created: ${message}. Name a file in another folder.`, error);
  });
}

async function isThere(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
