import type { SqliteDriver } from "./sqlite-driver.ts";
import { openEngine } from "./sqlite-engine.ts";
import { storeFailure } from "../store-failure.ts";

/**
 * Opens a file, and makes it where there is none; by Node's own engine where it has one. Rejects with kind
 * `unavailable` where no engine is there.
 */
export function openSqlite(path: string, engine?: "libsql"): Promise<SqliteDriver> {
  return openEngine(path, engine, storeFailure);
}
