import { createHash } from "node:crypto";
import { mkdir, open, readFile, rm, stat, type FileHandle } from "node:fs/promises";
import { join } from "node:path";
import { codeOf } from "../../core/errors.ts";
import { isJsonObject, type JsonObject } from "../../core/json/json.ts";
import { parseExact, stringifyExact } from "../../core/json/exact-json.ts";
import { formatBytes } from "../../core/text/bytes.ts";
import { isAlive, LockTaken } from "../../files/file-lock.ts";
import { PRIVATE_MODE, writeWhole } from "../../files/write-whole.ts";

/** The last record of a task in the journal. */
export interface TaskRecord extends JsonObject {
  readonly id: string;
  /** True if the task was removed. The record then has no further members. */
  readonly removed?: boolean;
}

/** Maximum size of a journal that is read. A larger one is left as it is, and tasks are kept in memory only. */
const MAX_JOURNAL_BYTES = 512 * 1024 * 1024;
/** Maximum number of hubs with the same configuration that run concurrently. Each has a separate journal. */
const MAX_HUBS = 16;
const FOLDER_MODE = 0o700;

/**
 * File with one JSON line per change of a task. A record is on disk before `append` resolves. An incomplete last line,
 * which `kill -9` may leave, is ignored.
 */
export class TaskJournal {
  readonly #path: string;
  readonly #lock: string;
  #file: FileHandle | undefined;
  /** Last write. The next one waits for it, so that records keep their order. */
  #last: Promise<unknown> = Promise.resolve();

  private constructor(path: string, lock: string) {
    this.#path = path;
    this.#lock = lock;
  }

  /**
   * Opens the journal of a configuration. Returns it with the last record of each task. Further hubs of the same
   * configuration get separate journals. Rejects with the system's error if the folder cannot be written.
   */
  static async open(folder: string, place: string): Promise<{ journal: TaskJournal; records: readonly TaskRecord[] }> {
    await mkdir(folder, { recursive: true, mode: FOLDER_MODE });
    const name = createHash("sha256").update(place).digest("hex").slice(0, 16);
    for (let number = 1; number <= MAX_HUBS; number += 1) {
      const path = join(folder, `${name}-${number}.jsonl`);
      if (!(await takeLock(`${path}.lock`))) continue;
      const journal = new TaskJournal(path, `${path}.lock`);
      return { journal, records: await journal.#recover() };
    }
    throw new LockTaken(`${MAX_HUBS} hubs of this configuration run already.`);
  }

  /** Adds a record. Resolves when it is on disk. */
  append(record: TaskRecord): Promise<void> {
    const line = `${stringifyExact(record)}\n`;
    const write = this.#last.then(async () => {
      if (!this.#file) throw new Error("The journal of tasks is closed.");
      await this.#file.appendFile(line);
      await this.#file.datasync();
    });
    this.#last = write.catch(() => {});
    return write;
  }

  async close(): Promise<void> {
    await this.#last;
    await this.#file?.close();
    this.#file = undefined;
    await rm(this.#lock, { force: true });
    held.delete(this.#lock);
  }

  /** Reads the file, and rewrites it with one record per task. */
  async #recover(): Promise<readonly TaskRecord[]> {
    const records = lastRecords(await readJournal(this.#path));
    await writeWhole(this.#path, records.map((record) => `${stringifyExact(record)}\n`).join(""));
    this.#file = await open(this.#path, "a", PRIVATE_MODE);
    return records;
  }
}

async function readJournal(path: string): Promise<string> {
  try {
    const { size } = await stat(path);
    if (size > MAX_JOURNAL_BYTES)
      throw new Error(`${path} is larger than ${formatBytes(MAX_JOURNAL_BYTES)}. Remove it to start with an empty one.`);
    return await readFile(path, "utf8");
  } catch (error) {
    if (codeOf(error) === "ENOENT") return "";
    throw error;
  }
}

function lastRecords(text: string): TaskRecord[] {
  const byId = new Map<string, TaskRecord>();
  for (const line of text.split("\n")) {
    const record = parsedRecord(line);
    if (!record) continue;
    if (record.removed) byId.delete(record.id);
    else byId.set(record.id, record);
  }
  return Array.from(byId.values());
}

function parsedRecord(line: string): TaskRecord | undefined {
  try {
    const value = parseExact(line);
    return isJsonObject(value) && typeof value["id"] === "string" ? (value as TaskRecord) : undefined;
  } catch {
    return undefined;
  }
}

/** Locks that this process holds. After a crash, this process may have the process id of the crashed one. */
const held = new Set<string>();

/** Creates the lock file of a journal for this process. Returns false if another hub holds it. */
async function takeLock(path: string): Promise<boolean> {
  if (held.has(path)) return false;
  held.add(path);
  const isTaken = (await tryCreate(path)) || ((await isDead(path)) && (await tryCreate(path)));
  if (!isTaken) held.delete(path);
  return isTaken;
}

async function tryCreate(path: string): Promise<boolean> {
  try {
    const file = await open(path, "wx", PRIVATE_MODE);
    await file.writeFile(String(process.pid));
    await file.close();
    return true;
  } catch (error) {
    if (codeOf(error) === "EEXIST") return false;
    throw error;
  }
}

/** Removes the lock of a process that has exited. */
async function isDead(path: string): Promise<boolean> {
  const holder = Number(await readFile(path, "utf8").catch(() => ""));
  if (holder > 0 && holder !== process.pid && isAlive(holder)) return false;
  await rm(path, { force: true });
  return true;
}
