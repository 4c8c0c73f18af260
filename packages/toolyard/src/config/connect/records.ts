import { join } from "node:path";
import { isJsonObject, type JsonObject } from "../../core/json/json.ts";
import { withFileLock } from "../../files/file-lock.ts";
import { replaceFile } from "../edit/replace-file.ts";
import { readText } from "../../files/read-text.ts";

/** One change of a client's file by `connect`, so that it can be undone. */
export interface ConnectionStep {
  /** Copy of the file before the change. Absent: there was no file. */
  readonly backup?: string;
  /** Digest of the file after the change. While the file still has it, undoing restores the backup byte by byte. */
  readonly written: string;
  /** Servers that moved out of the file. */
  readonly moved: readonly string[];
}

/** Every change of one client's file that `disconnect` has to undo, oldest first. */
export type ConnectionRecord = readonly ConnectionStep[];

/** The records of every client's files, in the data folder. */
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

  /** An unreadable file of records counts as empty: servers then stay where they are. */
  async #read(): Promise<JsonObject> {
    try {
      const value: unknown = JSON.parse(await readText(this.#path));
      return isJsonObject(value) ? value : {};
    } catch {
      return {};
    }
  }
}

/** Earlier versions kept one step, without a list around it. */
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
