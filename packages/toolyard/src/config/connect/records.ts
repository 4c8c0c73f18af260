import { join } from "node:path";
import { isJsonObject, type JsonObject } from "../../core/json/json.ts";
import { withFileLock } from "../../files/file-lock.ts";
import { replaceFile } from "../edit/replace-file.ts";
import { readText } from "../../files/read-text.ts";

/** What was done to one client's file, so that it can be undone. */
export interface ConnectionRecord {
  /** The file as it was; absent: there was none. */
  readonly backup?: string;
  /** Digest of the file as it was left. As long as it is that, undoing is putting the backup back. */
  readonly written: string;
  /** Servers that moved out of the file. */
  readonly moved: readonly string[];
}

/** The records of all clients' files, in the data folder. */
export class ConnectionRecords {
  readonly #path: string;

  constructor(dataFolder: string) {
    this.#path = join(dataFolder, "connections.json");
  }

  async get(file: string): Promise<ConnectionRecord | undefined> {
    return readRecord((await this.#read())[file]);
  }

  set(file: string, record: ConnectionRecord | undefined): Promise<void> {
    return withFileLock(`${this.#path}.lock`, async () => {
      const { [file]: _before, ...others } = await this.#read();
      const records = record ? { ...others, [file]: record } : others;
      await replaceFile(this.#path, `${JSON.stringify(records, null, 2)}\n`);
    });
  }

  /** What cannot be read is nothing: undoing then leaves servers where they are. */
  async #read(): Promise<JsonObject> {
    try {
      const value: unknown = JSON.parse(await readText(this.#path));
      return isJsonObject(value) ? value : {};
    } catch {
      return {};
    }
  }
}

function readRecord(value: unknown): ConnectionRecord | undefined {
  if (!isJsonObject(value) || typeof value["written"] !== "string" || !Array.isArray(value["moved"])) return undefined;
  const { backup, written, moved } = value;
  return { ...(typeof backup === "string" ? { backup } : {}), written, moved: moved.map(String) };
}
