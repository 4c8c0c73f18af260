import type pgModule from "pg";
import type { Pool, PoolClient } from "pg";
import { importExtra } from "toolyard/extras";
import { DocumentError } from "../../documents/document-error.ts";
import { storeFailure } from "../store-failure.ts";

export type PostgresValue = string | number | null;
export type PostgresRow = Readonly<Record<string, unknown>>;

/** Runs statements, in a transaction or on any connection of the pool. */
export interface PostgresSession {
  query(sql: string, values?: readonly PostgresValue[]): Promise<PostgresRow[]>;
  /** Runs several statements without parameters. */
  script(sql: string): Promise<void>;
}

export interface PostgresDriver extends PostgresSession {
  /** Runs `work` in one transaction, which is rolled back if `work` rejects. */
  transaction<T>(work: (session: PostgresSession) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

const MAX_CONNECTIONS = 4;
const CONNECT_MS = 5_000;
const QUERY_MS = 120_000;

/** Connects to a server. Rejects with `STORE_UNAVAILABLE` if that fails. Error messages contain no password. */
export async function openPostgres(url: URL): Promise<PostgresDriver> {
  const { default: pg } = await importExtra<{ readonly default: typeof pgModule }>("postgres", "pg").catch(
    (error: Error) => {
      throw storeFailure("unavailable", error.message, error);
    },
  );
  const pool = new pg.Pool({
    connectionString: url.href,
    max: MAX_CONNECTIONS,
    connectionTimeoutMillis: CONNECT_MS,
    query_timeout: QUERY_MS,
    application_name: "toolyard-library",
  });
  // An idle connection that breaks needs no handling: the next query gets another connection or the error.
  pool.on("error", () => {});
  const driver = new PoolDriver(pool, `${url.hostname}:${url.port || "5432"}`);
  try {
    await driver.query("select 1");
    return driver;
  } catch (error) {
    await driver.close();
    throw error;
  }
}

class PoolDriver implements PostgresDriver {
  readonly #pool: Pool;
  readonly #where: string;

  constructor(pool: Pool, where: string) {
    this.#pool = pool;
    this.#where = where;
  }

  // Arrow functions, because callers destructure them from the driver, as they do with those of a transaction.
  readonly query = (sql: string, values: readonly PostgresValue[] = []): Promise<PostgresRow[]> =>
    this.#told(async () => (await this.#pool.query<PostgresRow>(sql, [...values])).rows);

  readonly script = async (sql: string): Promise<void> => {
    await this.#told(() => this.#pool.query(sql));
  };

  transaction<T>(work: (session: PostgresSession) => Promise<T>): Promise<T> {
    return this.#told(async () => {
      const client = await this.#pool.connect();
      let broken: Error | undefined;
      // Without a listener, a connection that breaks during the transaction would end the process.
      const breaks = (error: Error): void => void (broken = error);
      client.on("error", breaks);
      try {
        return await inTransaction(client, work);
      } catch (error) {
        await client.query("rollback").catch((second: Error) => (broken = second));
        throw error;
      } finally {
        client.off("error", breaks);
        client.release(broken);
      }
    });
  }

  close(): Promise<void> {
    return this.#pool.end();
  }

  async #told<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      throw error instanceof DocumentError ? error : postgresFailure(error as NodeJS.ErrnoException, this.#where);
    }
  }
}

async function inTransaction<T>(client: PoolClient, work: (session: PostgresSession) => Promise<T>): Promise<T> {
  await client.query("begin");
  const result = await work({
    query: async (sql, values = []) => (await client.query<PostgresRow>(sql, [...values])).rows,
    script: async (sql) => void (await client.query(sql)),
  });
  await client.query("commit");
  return result;
}

/** SQLSTATE codes for a lock that is not available, a deadlock and a serialisation failure. A retry may succeed. */
const BUSY = new Set(["55P03", "40P01", "40001"]);

export function postgresFailure(error: NodeJS.ErrnoException, where: string): DocumentError {
  const { code = "", message } = error;
  if (BUSY.has(code))
    return storeFailure("busy", `The library at ${where} is busy (${message}). Try again in a moment.`, error);
  const advice =
    code === "28P01" || code === "28000"
      ? "Correct the user and the password in the store address."
      : "Check that the database runs and is reachable; `toolyard library doctor` shows details.";
  return storeFailure("unavailable", `The library at ${where} failed: ${message || code}. ${advice}`, error);
}
