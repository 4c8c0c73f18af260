import type { SqliteDriver } from "./sqlite-driver.ts";
import { openEngine } from "./sqlite-engine.ts";
import { storeFailure } from "../store-failure.ts";

/**
 * Opens a database file, and creates it if it does not exist. Uses Node's own engine if it is available. Rejects with
 * kind `unavailable` if there is no engine.
 */
export function openSqlite(path: string, engine?: "libsql"): Promise<SqliteDriver> {
  return openEngine(path, engine, storeFailure);
}
