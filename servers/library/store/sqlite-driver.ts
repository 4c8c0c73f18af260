import { FailError } from "toolyard";
import { missingPackage } from "../../shared/missing-package.ts";

export type Value = string | number | bigint | Uint8Array | null;
export type Row = Readonly<Record<string, Value>>;

/** One connection to one file, whichever engine is behind it. Statements are prepared once. */
export interface SqliteDriver {
  exec(sql: string): void;
  all(sql: string, values?: readonly Value[]): Row[];
  get(sql: string, values?: readonly Value[]): Row | undefined;
  /** The number of rows that it changed. */
  run(sql: string, values?: readonly Value[]): number;
  /** All of the work or nothing of it. It must not wait for anything. */
  transaction<T>(work: () => T): T;
  close(): void;
}

/** What both engines share of their interfaces. */
interface Statement {
  all(...values: Value[]): unknown[];
  get(...values: Value[]): unknown;
  run(...values: Value[]): { readonly changes: number | bigint };
}
interface Engine {
  exec(sql: string): unknown;
  prepare(sql: string): Statement;
  close(): void;
}

/** A second writer waits for the first that long. */
const BUSY_MS = 5_000;
/** Statements that are kept; all that the store has are fewer. */
const MAX_STATEMENTS = 200;

/** Opens a file, and makes it where there is none. Rejects with kind `unavailable` where no engine is there. */
export async function openSqlite(path: string): Promise<SqliteDriver> {
  const driver = new Driver(await openEngine(path));
  driver.exec(`pragma busy_timeout = ${BUSY_MS}`);
  const [mode] = driver.all("pragma journal_mode = wal");
  if (mode?.["journal_mode"] !== "wal" && path !== ":memory:") {
    driver.close();
    throw unavailable(
      `${path} does not take a write-ahead log, which its file system must offer. Network drives often do not: ` +
        "put the library on a local disk.",
    );
  }
  driver.exec("pragma synchronous = normal; pragma foreign_keys = on");
  return driver;
}

async function openEngine(path: string): Promise<Engine> {
  const builtin = await builtinEngine();
  if (builtin) return builtin(path);
  try {
    const { default: Database } = await import("libsql");
    return new Database(path) as unknown as Engine;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ERR_MODULE_NOT_FOUND") throw error;
    throw unavailable(
      `${missingPackage("libsql", `SQLite on Node ${process.version}`)} Node 22.13 and later have their own.`,
    );
  }
}

type Open = (path: string) => Engine;

/** Node's own engine, from 22.13 on; it says once that it is experimental, which is no news to anybody. */
async function builtinEngine(): Promise<Open | undefined> {
  const isThere = process.getBuiltinModule?.("node:module")?.isBuiltin("node:sqlite") === true;
  if (!isThere) return undefined;
  const { emitWarning } = process;
  process.emitWarning = ((warning: string | Error, ...rest: never[]) => {
    if (!String(warning).startsWith("SQLite is an experimental feature")) emitWarning.call(process, warning, ...rest);
  }) as typeof process.emitWarning;
  try {
    const name = "node:sqlite";
    const { DatabaseSync } = (await import(name)) as { readonly DatabaseSync: new (path: string) => Engine };
    return (path) => new DatabaseSync(path);
  } finally {
    process.emitWarning = emitWarning;
  }
}

function unavailable(message: string): FailError {
  return new FailError({ ok: false, kind: "unavailable", message, retryable: false });
}

class Driver implements SqliteDriver {
  readonly #engine: Engine;
  readonly #statements = new Map<string, Statement>();

  constructor(engine: Engine) {
    this.#engine = engine;
  }

  exec(sql: string): void {
    this.#engine.exec(sql);
  }

  all(sql: string, values: readonly Value[] = []): Row[] {
    return this.#statement(sql).all(...values) as Row[];
  }

  get(sql: string, values: readonly Value[] = []): Row | undefined {
    return this.#statement(sql).get(...values) as Row | undefined;
  }

  run(sql: string, values: readonly Value[] = []): number {
    return Number(this.#statement(sql).run(...values).changes);
  }

  transaction<T>(work: () => T): T {
    this.exec("begin immediate");
    try {
      const result = work();
      this.exec("commit");
      return result;
    } catch (error) {
      this.exec("rollback");
      throw error;
    }
  }

  close(): void {
    this.#statements.clear();
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
