import { createHash, randomBytes } from "node:crypto";
import { link, mkdir, open, readFile, rename, rm, stat, utimes, writeFile, type FileHandle } from "node:fs/promises";
import { hostname } from "node:os";
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

/** Maximum size of a journal that is read. A larger journal stays unchanged, and tasks are then kept in memory only. */
const MAX_JOURNAL_BYTES = 512 * 1024 * 1024;
/** Maximum number of hubs with the same configuration that run concurrently. Each has a separate journal. */
const MAX_HUBS = 16;
const FOLDER_MODE = 0o700;
/** Age after which the lock of another host counts as left over. A running hub renews its own lock far more often. */
const FOREIGN_LOCK_MS = 3 * 60 * 60 * 1000;
const RENEW_LOCK_MS = 60 * 60 * 1000;

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
  #bytes = 0;
  /** True after a failed write, because it may have left an incomplete line. */
  #isTorn = false;
  readonly #renewal: NodeJS.Timeout;

  private constructor(path: string, lock: string) {
    this.#path = path;
    this.#lock = lock;
    this.#renewal = setInterval(() => {
      const now = new Date();
      utimes(lock, now, now).catch(() => {});
    }, RENEW_LOCK_MS);
    this.#renewal.unref();
  }

  /** Size of the file in bytes. */
  get bytes(): number {
    return this.#bytes;
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
      try {
        return { journal, records: await journal.#recover() };
      } catch (error) {
        await journal.close();
        throw error;
      }
    }
    throw new LockTaken(`${MAX_HUBS} hubs of this configuration run already.`);
  }

  /** Adds a record. Resolves when it is on disk. */
  append(record: TaskRecord): Promise<void> {
    const line = `${stringifyExact(record)}\n`;
    return this.#inTurn(async () => {
      if (!this.#file) throw new Error("The journal of tasks is closed.");
      const text = this.#isTorn ? `\n${line}` : line;
      this.#isTorn = true;
      await this.#file.appendFile(text);
      this.#isTorn = false;
      this.#bytes += Buffer.byteLength(text);
      await this.#file.datasync();
    });
  }

  /** Replaces the content by these records. This is needed from time to time, because every change is appended. */
  compact(records: () => readonly TaskRecord[]): Promise<void> {
    return this.#inTurn(async () => {
      await this.#file?.close();
      this.#file = undefined;
      await this.#rewrite(records());
    });
  }

  #inTurn(work: () => Promise<void>): Promise<void> {
    const write = this.#last.then(work);
    this.#last = write.catch(() => {});
    return write;
  }

  async close(): Promise<void> {
    clearInterval(this.#renewal);
    await this.#last;
    await this.#file?.close();
    this.#file = undefined;
    await rm(this.#lock, { force: true });
    held.delete(this.#lock);
  }

  /** Reads the file, and rewrites it with one record per task. */
  async #recover(): Promise<readonly TaskRecord[]> {
    const records = lastRecords(await readJournal(this.#path));
    await this.#rewrite(records);
    return records;
  }

  async #rewrite(records: readonly TaskRecord[]): Promise<void> {
    const text = records.map((record) => `${stringifyExact(record)}\n`).join("");
    await writeWhole(this.#path, text);
    this.#bytes = Buffer.byteLength(text);
    this.#file = await open(this.#path, "a", PRIVATE_MODE);
  }
}

async function readJournal(path: string): Promise<string> {
  try {
    const { size } = await stat(path);
    if (size > MAX_JOURNAL_BYTES)
      throw new Error(
        `${path} is larger than ${formatBytes(MAX_JOURNAL_BYTES)}. Remove it to start with an empty one.`,
      );
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

/**
 * Locks that this process holds. A lock with this process id is only valid if it is in this set, because a crashed
 * process may have had the same id.
 */
const held = new Set<string>();

/** Creates the lock file of a journal for this process. Returns false if another hub holds it. */
async function takeLock(path: string): Promise<boolean> {
  if (held.has(path)) return false;
  held.add(path);
  const isTaken = (await tryCreate(path)) || ((await removeDead(path)) && (await tryCreate(path)));
  if (!isTaken) held.delete(path);
  return isTaken;
}

/** Creates the lock together with its content, so that no other hub reads a lock without a holder. */
async function tryCreate(path: string): Promise<boolean> {
  const draft = `${path}.${process.pid}-${randomBytes(4).toString("hex")}`;
  await writeFile(draft, holderText(), { mode: PRIVATE_MODE });
  try {
    await link(draft, path);
    return true;
  } catch (error) {
    if (codeOf(error) === "EEXIST") return false;
    throw error;
  } finally {
    await rm(draft, { force: true });
  }
}

function holderText(): string {
  return `${process.pid} ${hostname()}`;
}

/** Removes the lock of a process that has exited. Returns false if its holder may still run. */
async function removeDead(path: string): Promise<boolean> {
  const text = await readFile(path, "utf8").catch(() => "");
  if (!(await isDead(text, path))) return false;
  const aside = `${path}.${process.pid}-${randomBytes(4).toString("hex")}`;
  // Only one hub can move the file away. The moved file is checked again, because it may be the lock of a faster hub.
  if (
    !(await rename(path, aside).then(
      () => true,
      () => false,
    ))
  )
    return false;
  const isSame = (await readFile(aside, "utf8").catch(() => "")) === text;
  if (!isSame) await link(aside, path).catch(() => {});
  await rm(aside, { force: true });
  return isSame;
}

/**
 * Processes of another host, such as a container with the same folder, are not visible, so the age of their lock
 * decides.
 */
async function isDead(text: string, path: string): Promise<boolean> {
  const [pid, host] = text.split(" ");
  if (host === hostname()) return Number(pid) === process.pid || !isAlive(Number(pid));
  const { mtimeMs } = await stat(path).catch(() => ({ mtimeMs: Number.NaN }));
  return Date.now() - mtimeMs > FOREIGN_LOCK_MS;
}
