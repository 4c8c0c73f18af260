import type libsql from "libsql";
import { statSync } from "node:fs";
import type { Fail, Row, SqliteDriver, Value } from "./sqlite-driver.ts";

/** Members that both engines have. */
interface Statement {
  all(...values: Value[]): unknown[];
  get(...values: Value[]): unknown;
  run(...values: Value[]): { readonly changes: number | bigint };
}
interface SqliteHandle {
  exec(sql: string): unknown;
  prepare(sql: string): Statement;
  close(): void;
}

/** Time that a second writer waits for the first, in milliseconds. */
const BUSY_MS = 5_000;
/** Maximum number of prepared statements that are kept. The store uses fewer. */
const MAX_STATEMENTS = 200;

/**
 * Like `openSqlite`, but with the caller's function for errors, so that the writer thread need not load the rest of the
 * package.
 */
export async function openEngine(path: string, wanted: "libsql" | undefined, fail: Fail): Promise<SqliteDriver> {
  const driver = await openDriver(path, wanted, fail);
  try {
    prepare(driver, path);
    return driver;
  } catch (error) {
    driver.close();
    throw error;
  }
}

function prepare(driver: SqliteDriver, path: string): void {
  driver.exec(`pragma busy_timeout = ${BUSY_MS}`);
  expectLibrary(driver, path);
  const [mode] = driver.all("pragma journal_mode = wal");
  if (mode?.["journal_mode"] !== "wal" && path !== ":memory:")
    throw driver.fail(
      "unavailable",
      `${path} cannot use a write-ahead log, which its file system must support. Network drives often do not: ` +
        "put the library on a local disk.",
    );
  driver.exec("pragma synchronous = normal; pragma foreign_keys = on");
}

/** Returns the identity of the file with this name; undefined if there is none, as in memory. */
export function identityOf(path: string): string | undefined {
  if (path === ":memory:") return undefined;
  const found = statSync(path, { bigint: true, throwIfNoEntry: false });
  return found && `${found.dev}:${found.ino}`;
}

/**
 * SQLite continues to use a file that was moved, deleted or replaced, but finds its log by name. Writes would be lost
 * and could damage the new file. Throws with kind `unavailable`.
 */
export function expectFile(path: string, identity: string | undefined, fail: Fail): void {
  const found = told({ path, fail }, () => identityOf(path));
  if (found === identity) return;
  throw fail(
    "unavailable",
    found === undefined
      ? `${path} no longer exists. Restore it, or name another file.`
      : `${path} is not the library that was opened: another file replaced it. Restart this program.`,
  );
}

/** Tables that exist in every library. */
const OWN_TABLES = ["meta", "document", "chunk", "summary"];

/** Throws for a database of another program, before any setting of it is changed. */
function expectLibrary(driver: SqliteDriver, path: string): void {
  const tables = new Set(driver.all("select name from sqlite_master where type = 'table'").map(({ name }) => name));
  if (tables.size === 0 || OWN_TABLES.every((name) => tables.has(name))) return;
  throw driver.fail("unavailable", `${path} is the database of another program, not a library. Name another file.`);
}

async function openDriver(path: string, wanted: "libsql" | undefined, fail: Fail): Promise<SqliteDriver> {
  const builtin = wanted === undefined ? await builtinEngine() : undefined;
  const open = builtin ?? (await libsqlEngine(fail));
  const engine = builtin ? "node:sqlite" : "libsql";
  return told({ path, fail }, () => new Driver(open(path), { engine, path, fail }));
}

async function libsqlEngine(fail: Fail): Promise<SqliteOpener> {
  // Imported here, so that the writer thread does not load it if Node has SQLite.
  const { importExtra, missingExtra, resolveExtra } = await import("toolyard/extras");
  if (resolveExtra("sqlite", "libsql") === undefined)
    throw fail(
      "unavailable",
      `${missingExtra("sqlite", `SQLite on Node ${process.version}`)} Node 22.13 and later include SQLite.`,
    );
  const { default: Database } = await importExtra<{ readonly default: typeof libsql }>("sqlite", "libsql");
  return (path) => new Database(path) as unknown as SqliteHandle;
}

type SqliteOpener = (path: string) => SqliteHandle;

/** Opens Node's own engine, available since 22.13. Suppresses its warning about being experimental. */
async function builtinEngine(): Promise<SqliteOpener | undefined> {
  const isThere = process.getBuiltinModule?.("node:module")?.isBuiltin("node:sqlite") === true;
  if (!isThere) return undefined;
  const { emitWarning } = process;
  process.emitWarning = ((warning: string | Error, ...rest: never[]) => {
    if (!String(warning).startsWith("SQLite is an experimental feature")) emitWarning.call(process, warning, ...rest);
  }) as typeof process.emitWarning;
  try {
    const name = "node:sqlite";
    const { DatabaseSync } = (await import(name)) as { readonly DatabaseSync: new (path: string) => SqliteHandle };
    return (path) => new DatabaseSync(path);
  } finally {
    process.emitWarning = emitWarning;
  }
}

/** SQLite's error codes with advice. The names are those of libsql. */
const BUSY = 5;
const ADVICE: readonly (readonly [code: number, name: string, advice: string])[] = [
  [BUSY, "SQLITE_BUSY", "Another program is writing to it. Try again in a moment."],
  [13, "SQLITE_FULL", "The disk is full, so nothing was written. Free some space, and try again."],
  [10, "SQLITE_IOERR", "Reading or writing the disk failed. Check the disk and its free space."],
  [14, "SQLITE_CANTOPEN", "Check that its folder exists and is writable."],
  [8, "SQLITE_READONLY", "Check that the file and its folder are writable."],
  [
    11,
    "SQLITE_CORRUPT",
    "The file is damaged. Replace it with a backup, delete its -wal and -shm files, or add the documents again.",
  ],
  [26, "SQLITE_NOTADB", "The file is not a library. Name another file."],
];
/** Advice if the file system denies access to the file. */
const NO_LOOK = "Check that its folder exists and is readable.";

interface EngineContext {
  readonly engine: string;
  readonly path: string;
  readonly fail: Fail;
}

/** Runs a statement, and converts an error of the engine into one with advice. */
function told<T>({ path, fail }: Pick<EngineContext, "path" | "fail">, work: () => T): T {
  try {
    return work();
  } catch (error) {
    const { code, errcode, message } = error as { code?: string; errcode?: number; message?: string };
    // The higher bits only give details of the error.
    const given = errcode ?? numberIn(message);
    const row = ADVICE.find(([number, name]) => given % 256 === number || code?.startsWith(name) === true);
    if (!row && (error as NodeJS.ErrnoException).syscall) throw fail("unavailable", `${message}. ${NO_LOOK}`, error);
    if (!row) throw error;
    throw fail(row[0] === BUSY ? "busy" : "unavailable", `${path}: ${message}. ${row[2]}`, error);
  }
}

/** libsql reports why it cannot open a file only in the message: `ConnectionFailed("…: 14")`. */
function numberIn(message = ""): number {
  return Number(/^ConnectionFailed\(.*: (\d+)"\)$/s.exec(message)?.[1] ?? -1);
}

class Driver implements SqliteDriver {
  readonly engine: string;
  readonly identity: string | undefined;
  readonly fail: Fail;
  readonly #engine: SqliteHandle;
  readonly #whose: EngineContext;
  readonly #statements = new Map<string, Statement>();
  #isWithin = false;

  constructor(engine: SqliteHandle, whose: EngineContext) {
    this.#engine = engine;
    this.#whose = whose;
    this.engine = whose.engine;
    this.fail = whose.fail;
    this.identity = identityOf(whose.path);
  }

  exec(sql: string): void {
    this.#told(() => this.#engine.exec(sql));
  }

  all(sql: string, values: readonly Value[] = []): Row[] {
    return this.#told(() => this.#statement(sql).all(...values) as Row[]);
  }

  get(sql: string, values: readonly Value[] = []): Row | undefined {
    return this.#told(() => this.#statement(sql).get(...values) as Row | undefined);
  }

  run(sql: string, values: readonly Value[] = []): number {
    return this.#told(() => Number(this.#statement(sql).run(...values).changes));
  }

  transaction<T>(work: () => T): T {
    return this.#within("begin immediate", work);
  }

  atOnce<T>(work: () => T): T {
    return this.#within("begin", work);
  }

  #within<T>(begin: string, work: () => T): T {
    this.exec(begin);
    this.#isWithin = true;
    try {
      const result = work();
      this.exec("commit");
      return result;
    } catch (error) {
      try {
        this.#engine.exec("rollback");
      } catch {
        // SQLite has already rolled back the transaction, for example after the disk was full.
      }
      throw error;
    } finally {
      this.#isWithin = false;
    }
  }

  #told<T>(work: () => T): T {
    // Within a transaction the file is checked only once, at its beginning.
    if (!this.#isWithin) expectFile(this.#whose.path, this.identity, this.fail);
    return told(this.#whose, work);
  }

  close(): void {
    this.#statements.clear();
    try {
      // An engine may keep the file open for longer. If another program then replaces the file, the contents of the log
      // would be read into the new file. If other connections use the file, the last of them truncates the log.
      this.#engine.exec("pragma busy_timeout = 0; pragma wal_checkpoint(truncate)");
    } catch {
      // The log is not lost: the next process that opens the file reads it.
    }
    this.#engine.close();
  }

  #statement(sql: string): Statement {
    let statement = this.#statements.get(sql);
    if (!statement) {
      if (this.#statements.size >= MAX_STATEMENTS) this.#statements.clear();
      this.#statements.set(sql, (statement = this.#engine.prepare(sql)));
    }
    return statement;
  }
}
