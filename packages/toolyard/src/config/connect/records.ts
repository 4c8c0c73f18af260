import { join } from "node:path";
import { isJsonObject, type JsonObject } from "../../core/json/json.ts";
import { withFileLock } from "../../files/file-lock.ts";
import { replaceFile } from "../edit/replace-file.ts";
import { readText } from "../../files/read-text.ts";

/** A change of a client's file by `connect`, for undoing it. */
export interface ConnectionStep {
  /** Copy of the file before the change; absent if there was no file. */
  readonly backup?: string;
  /**
   * Digest of the file after the change. If the file still has this digest, undoing restores the backup byte by byte.
   */
  readonly written: string;
  /** Servers that were moved out of the file. */
  readonly moved: readonly string[];
}

/** Changes of one client's file that `disconnect` must undo, oldest first. */
export type ConnectionRecord = readonly ConnectionStep[];

/** Records of the changes of all clients' files, in the data folder. */
export class ConnectionRecords {
  readonly #path: string;

  constructor(dataFolder: string) {
    this.#path = join(dataFolder, "connections.json");
  }

  /** Returns the changes of this file; an empty list if there are none. */
  async get(file: string): Promise<ConnectionRecord> {
    return readRecord((await this.#read())[file]);
  }

  /** Replaces the changes of this file; an empty list removes its record. */
  set(file: string, record: ConnectionRecord): Promise<void> {
    return withFileLock(`${this.#path}.lock`, async () => {
      const { [file]: _before, ...others } = await this.#read();
      const records = record.length > 0 ? { ...others, [file]: { steps: record } } : others;
      await replaceFile(this.#path, `${JSON.stringify(records, null, 2)}\n`);
    });
  }

  /** Reads the records. An unreadable file counts as empty, so `disconnect` then restores no server. */
  async #read(): Promise<JsonObject> {
    try {
      const value: unknown = JSON.parse(await readText(this.#path));
      return isJsonObject(value) ? value : {};
    } catch {
      return {};
    }
  }
}

/** Parses a record. Earlier versions stored a single step without a list. */
function readRecord(value: unknown): ConnectionRecord {
  if (!isJsonObject(value)) return [];
  const steps: readonly unknown[] = Array.isArray(value["steps"]) ? value["steps"] : [value];
  return steps.flatMap(readStep);
}

function readStep(value: unknown): readonly ConnectionStep[] {
  if (!isJsonObject(value) || typeof value["written"] !== "string" || !Array.isArray(value["moved"])) return [];
  const { backup, written, moved } = value;
  return [{ ...(typeof backup === "string" ? { backup } : {}), written, moved: moved.map(String) }];
}
