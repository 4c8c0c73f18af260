import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import { contentDigest } from "../../core/json/digest.ts";
import { ConfigError } from "../../core/errors.ts";
import { isJsonObject, type JsonObject } from "../../core/json/json.ts";
import { replaceFile } from "../edit/replace-file.ts";
import { HUB_NAME } from "../import/import-servers.ts";
import { parseClientDocument, readClientDocument, type ClientDocument } from "./client-document.ts";
import type { ClientKind } from "./clients.ts";
import type { ConnectionRecord, ConnectionRecords } from "./records.ts";
import { readText } from "../../files/read-text.ts";

export interface ClientPlace {
  readonly client: ClientKind;
  readonly path: string;
  readonly records: ConnectionRecords;
}

export interface ConnectClientOptions extends ClientPlace {
  readonly entry: JsonObject;
  /** Names of its servers that move out. */
  readonly moves: readonly string[];
}

export interface ConnectClientResult {
  /** False: it was so already. */
  readonly changed: boolean;
  readonly backup?: string;
}

/** A client may write its file at any time; it is read again as often. */
const MAX_ATTEMPTS = 5;

/** Writes the hub into a client's file and its servers out of it, with a backup. Throws a `ConfigError`. */
export async function connectClient({ entry, moves, ...place }: ConnectClientOptions): Promise<ConnectClientResult> {
  const { path, records } = place;
  const record = await records.get(path);
  const change = await changeFile(place, async (before) => {
    const after = await before.remove(moves);
    if (JSON.stringify(after.servers[HUB_NAME]) === JSON.stringify(entry)) return after;
    return after.set(HUB_NAME, entry);
  });
  if (!change) return { changed: false, ...backupOf(record) };
  const { before, after } = change;
  const first = record && (record.backup === undefined || existsSync(record.backup)) ? record : undefined;
  const backup = first ? first.backup : await backUp(path, before.text);
  const isAsLeft = !first || first.written === contentDigest(before.text);
  await replaceFile(path, after.text);
  await records.set(path, {
    ...backupOf({ backup }),
    // Somebody has changed it in between, which putting the backup back would undo, too.
    written: isAsLeft ? contentDigest(after.text) : CHANGED,
    moved: [...new Set([...(first?.moved ?? []), ...moves])],
  });
  return { changed: true, ...backupOf({ backup }) };
}

function backupOf({ backup }: { readonly backup?: string | undefined } = {}): { readonly backup?: string } {
  return backup === undefined ? {} : { backup };
}

/** No file has this digest. */
const CHANGED = "changed";

export interface DisconnectClientResult {
  /** False: the hub was not in the file. */
  readonly changed: boolean;
  /** Servers that are in the file again. */
  readonly restored: readonly string[];
  /** Kept, since the file had been changed in between. */
  readonly backup?: string;
}

/** Takes the hub out of a client's file and puts back what had moved out for it. Throws a `ConfigError`. */
export async function disconnectClient(place: ClientPlace): Promise<DisconnectClientResult> {
  const { client, path, records } = place;
  const record = await records.get(path);
  const now = await readClientDocument(client, path);
  if (record && record.written === contentDigest(now.text)) return putBack(place, record);
  const kept = record?.backup === undefined ? {} : await serversIn(client, record.backup);
  const restored = (record?.moved ?? []).filter((name) => name in kept && !(name in now.servers));
  if (!(HUB_NAME in now.servers) && restored.length === 0) return { changed: false, restored };
  const change = await changeFile(place, async (before) => {
    let after = await before.remove([HUB_NAME]);
    for (const name of restored) {
      const entry = kept[name];
      if (isJsonObject(entry) && !(name in after.servers)) after = await after.set(name, entry);
    }
    return after;
  });
  if (change) await replaceFile(path, change.after.text);
  await records.set(path, undefined);
  return { changed: true, restored, ...backupOf(record) };
}

async function putBack(
  { path, records }: ClientPlace,
  { backup, moved }: ConnectionRecord,
): Promise<DisconnectClientResult> {
  if (backup === undefined) await rm(path, { force: true });
  else await replaceFile(path, await readBackup(backup));
  await records.set(path, undefined);
  if (backup !== undefined) await rm(backup, { force: true });
  return { changed: true, restored: moved };
}

async function serversIn(client: ClientKind, backup: string): Promise<JsonObject> {
  return (await parseClientDocument(client, backup, await readBackup(backup))).servers;
}

async function readBackup(path: string): Promise<string> {
  return readText(path).catch((error: unknown) => {
    throw new ConfigError([`The backup ${path} cannot be read. Nothing was changed. Edit the file by hand.`], {
      cause: error,
    });
  });
}

interface DocumentChange {
  readonly before: ClientDocument;
  readonly after: ClientDocument;
}

/** What a change makes of the file as it is at this moment; nothing where it makes no difference. */
async function changeFile(
  { client, path }: ClientPlace,
  edit: (before: ClientDocument) => Promise<ClientDocument>,
): Promise<DocumentChange | undefined> {
  for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt += 1) {
    const before = await readClientDocument(client, path);
    const after = await edit(before);
    if (after.text === before.text) return undefined;
    if ((await readClientDocument(client, path)).text === before.text) return { before, after };
  }
  throw new ConfigError([`${path} is being changed all the time. Nothing was written. Quit ${client.program} first.`]);
}

/** A copy beside the file, under a name that no earlier one has. An absent file needs none. */
async function backUp(path: string, text: string): Promise<string | undefined> {
  if (!existsSync(path)) return undefined;
  for (let count = 1; ; count += 1) {
    const backup = `${path}.before-toolyard${count === 1 ? "" : `-${count}`}`;
    if (existsSync(backup)) continue;
    await replaceFile(backup, text);
    return backup;
  }
}
