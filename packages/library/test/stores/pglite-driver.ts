import { PGlite, type Transaction } from "@electric-sql/pglite";
import { vector } from "@electric-sql/pglite-pgvector";
import type { PostgresDriver, PostgresRow, PostgresSession } from "../../src/store/postgres/postgres-driver.ts";

/** PostgreSQL in this process, in memory: replaces a server if none is configured. */
export async function openPglite(): Promise<{ connect(): PostgresDriver; close(): Promise<void> }> {
  const database = await PGlite.create({ extensions: { vector } });
  return {
    connect: () => ({
      ...sessionOf(database),
      transaction: (work) => database.transaction((transaction) => work(sessionOf(transaction))),
      close: async () => {},
    }),
    close: () => database.close(),
  };
}

function sessionOf(on: Pick<Transaction, "query" | "exec">): PostgresSession {
  return {
    query: async (sql, values = []) => (await on.query<PostgresRow>(sql, [...values])).rows,
    script: async (sql) => void (await on.exec(sql)),
  };
}
