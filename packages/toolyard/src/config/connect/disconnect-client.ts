import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import { contentDigest } from "../../core/json/digest.ts";
import { ConfigError } from "../../core/errors.ts";
import { isJsonObject } from "../../core/json/json.ts";
import { readText } from "../../files/read-text.ts";
import { replaceFile } from "../edit/replace-file.ts";
import { HUB_NAME } from "../import/import-servers.ts";
import { parseClientDocument, type ClientDocument } from "./client-document.ts";
import { changeFile, type ClientPlace } from "./client-file.ts";
import type { ConnectionStep } from "./records.ts";

export interface DisconnectionResult {
  /** False if the file did not contain the hub and lacked none of the moved servers. */
  readonly changed: boolean;
  /** Servers that were restored. */
  readonly restored: readonly string[];
  /** Servers that cannot be restored, because there is no backup. */
  readonly lost?: readonly string[];
  /** Backup of the file before the first change, kept because the file was edited since. */
  readonly backup?: string;
}

/** State after some steps have been undone. */
interface UndoState {
  readonly document: ClientDocument;
  /** True if the file did not exist before the step that was undone last. */
  readonly isAbsent: boolean;
  readonly restored: readonly string[];
  readonly lost: readonly string[];
  /** Backups that are no longer needed, because the document equals them. */
  readonly spent: readonly string[];
  /** Backups that are kept, because the file was edited after them. */
  readonly kept: readonly string[];
}

/**
 * Removes the hub from a client's file and restores the servers that any `connect` moved out of it. Throws a
 * `ConfigError`.
 */
export async function disconnectClient(place: ClientPlace): Promise<DisconnectionResult> {
  const { path, records } = place;
  const steps = await records.get(path);
  let undone: UndoState | undefined;
  const change = await changeFile(place, async (before) => {
    undone = await undo(place, before, steps);
    return undone.document;
  });
  if (!undone) return { changed: false, restored: [] };
  const { isAbsent, restored, lost, spent, kept } = undone;
  if (!change && !(isAbsent && existsSync(path))) return { changed: false, restored: [] };
  if (isAbsent) await rm(path, { force: true });
  else if (change) await replaceFile(path, change.after.text);
  await records.set(path, []);
  await Promise.all(spent.map((backup) => rm(backup, { force: true })));
  const [backup] = kept.toReversed();
  return {
    changed: true,
    restored: [...new Set(restored)].toSorted(),
    ...(lost.length > 0 ? { lost: [...new Set(lost)].toSorted() } : {}),
    ...(backup === undefined ? {} : { backup }),
  };
}

/** Returns the servers that `disconnect` would restore. */
export async function plannedReturns(place: ClientPlace, document: ClientDocument): Promise<readonly string[]> {
  const { restored } = await undo(place, document, await place.records.get(place.path));
  return [...new Set(restored)].toSorted();
}

async function undo(
  place: ClientPlace,
  document: ClientDocument,
  steps: readonly ConnectionStep[],
): Promise<UndoState> {
  let undoing: UndoState = { document, isAbsent: false, restored: [], lost: [], spent: [], kept: [] };
  for (const step of steps.toReversed()) undoing = await undoStep(place, undoing, step);
  // The hub's entry is still in the file if there is no record, or if the file was edited after `connect`.
  if (HUB_NAME in undoing.document.servers && !undoing.isAbsent && !isRestoredFile(undoing, steps))
    undoing = { ...undoing, document: await undoing.document.remove([HUB_NAME]) };
  return undoing;
}

/**
 * Returns whether the document is the first backup: the user's own file, in which an entry with this name belongs to
 * the user too.
 */
function isRestoredFile({ spent }: UndoState, [first]: readonly ConnectionStep[]): boolean {
  return first?.backup !== undefined && spent.includes(first.backup);
}

async function undoStep(place: ClientPlace, undoing: UndoState, step: ConnectionStep): Promise<UndoState> {
  const { client, path } = place;
  const { backup, written, moved } = step;
  if (!undoing.isAbsent && contentDigest(undoing.document.text) === written) {
    const restored = [...undoing.restored, ...moved];
    if (backup === undefined)
      return { ...undoing, document: await parseClientDocument(client, path, ""), isAbsent: true, restored };
    if (existsSync(backup)) {
      const document = await parseClientDocument(client, backup, await readBackup(backup));
      return { ...undoing, document, restored, spent: [...undoing.spent, backup] };
    }
  }
  return putBackServers(place, undoing, step);
}

/** Restores servers one by one. Restoring the whole backup would undo later changes of the file. */
async function putBackServers({ client }: ClientPlace, undoing: UndoState, step: ConnectionStep): Promise<UndoState> {
  const { backup, moved } = step;
  const isThere = backup !== undefined && existsSync(backup);
  const saved = isThere ? (await parseClientDocument(client, backup, await readBackup(backup))).servers : {};
  let document = await undoing.document.remove([HUB_NAME]);
  const missing = moved.filter((name) => !(name in document.servers));
  const restored = missing.filter((name) => isJsonObject(saved[name]));
  for (const name of restored) {
    const entry = saved[name];
    if (isJsonObject(entry)) document = await document.set(name, entry);
  }
  return {
    ...undoing,
    document,
    isAbsent: undoing.isAbsent && restored.length === 0,
    restored: [...undoing.restored, ...restored],
    lost: [...undoing.lost, ...missing.filter((name) => !restored.includes(name))],
    kept: isThere ? [...undoing.kept, backup] : undoing.kept,
  };
}

async function readBackup(path: string): Promise<string> {
  return readText(path).catch((error: unknown) => {
    throw new ConfigError([`The backup ${path} cannot be read. Nothing was changed. Edit the file by hand.`], {
      cause: error,
    });
  });
}
