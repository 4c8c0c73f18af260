import { existsSync } from "node:fs";
import { isDeepStrictEqual } from "node:util";
import { contentDigest } from "../../core/json/digest.ts";
import type { JsonObject } from "../../core/json/json.ts";
import { replaceFile } from "../edit/replace-file.ts";
import { HUB_NAME } from "../import/import-servers.ts";
import { changeFile, type Change, type ClientPlace } from "./client-file.ts";
import type { ClientDocument } from "./client-document.ts";
import type { ConnectionRecord, ConnectionStep } from "./records.ts";

/** A client's file and the changes that it needs. */
export interface ClientConnection extends ClientPlace {
  readonly entry: JsonObject;
  /** Servers to move out of the file, as they were when the move was planned. */
  readonly moves: Readonly<Record<string, unknown>>;
}

export interface ConnectionResult {
  /** False if the file already had the entry and no server was moved. */
  readonly changed: boolean;
  /** Servers that were moved out of the file. A server that the user has edited since the plan stays. */
  readonly moved: readonly string[];
  /** Backup of the file before the first change. */
  readonly backup?: string;
}

/** Writes the hub into a client's file and moves its servers out, with a backup. Throws a `ConfigError`. */
export async function connectClient({ entry, moves, ...place }: ClientConnection): Promise<ConnectionResult> {
  const { path, records } = place;
  const record = await records.get(path);
  const change = await changeFile(place, async (before) => {
    const after = await before.remove(unchanged(before, moves));
    if (JSON.stringify(after.servers[HUB_NAME]) === JSON.stringify(entry)) return after;
    return after.set(HUB_NAME, entry);
  });
  if (!change) return { changed: false, moved: [], ...firstBackup(record) };
  const moved = unchanged(change.before, moves);
  const next = await withStep(record, { path, change, moved });
  // The record is written before the file: after a crash in between, `disconnect` can still compare the file with the
  // record.
  await records.set(path, next);
  await replaceFile(path, change.after.text);
  return { changed: true, moved, ...firstBackup(next) };
}

function unchanged({ servers }: ClientDocument, moves: ClientConnection["moves"]): readonly string[] {
  return Object.keys(moves).filter((name) => name in servers && isDeepStrictEqual(servers[name], moves[name]));
}

/** Replaces the digest of a file that was edited after the last `connect`. No file has this digest. */
const CHANGED = "changed";

interface Step {
  readonly path: string;
  readonly change: Change;
  readonly moved: readonly string[];
}

/**
 * Adds a change to the record. If the file was not edited since the last `connect`, the change joins that step, so that
 * the step's backup undoes both. A file that was edited meanwhile needs a separate backup if servers move out of it.
 */
async function withStep(record: ConnectionRecord, { path, change, moved }: Step): Promise<ConnectionRecord> {
  const written = contentDigest(change.after.text);
  const last = record.at(-1);
  const isUsable = last !== undefined && (last.backup === undefined || existsSync(last.backup));
  const isAsLeft = last?.written === contentDigest(change.before.text);
  if (!isUsable || (!isAsLeft && moved.length > 0)) {
    const backup = await backUp(path, change.before.text);
    return [...record, stepOf(backup, { written, moved })];
  }
  const joined = [...new Set([...last.moved, ...moved])];
  return [...record.slice(0, -1), stepOf(last.backup, { written: isAsLeft ? written : CHANGED, moved: joined })];
}

function stepOf(backup: string | undefined, step: Omit<ConnectionStep, "backup">): ConnectionStep {
  return backup === undefined ? step : { backup, ...step };
}

function firstBackup(record: ConnectionRecord): { readonly backup?: string } {
  const backup = record[0]?.backup;
  return backup === undefined ? {} : { backup };
}

/** Copies the file to a new name in the same folder. Returns undefined if there is no file. */
async function backUp(path: string, text: string): Promise<string | undefined> {
  if (!existsSync(path)) return undefined;
  for (let count = 1; ; count += 1) {
    const backup = `${path}.before-toolyard${count === 1 ? "" : `-${count}`}`;
    if (existsSync(backup)) continue;
    await replaceFile(backup, text);
    return backup;
  }
}
