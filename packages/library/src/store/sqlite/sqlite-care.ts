import { access, rm } from "node:fs/promises";
import { inPlaceOf } from "toolyard/service/replace-file";
import { checkDigests, repairDigests } from "./sqlite-digest.ts";
import type { SqliteDriver } from "./sqlite-driver.ts";
import { checkPlainTexts, repairPlainTexts } from "./sqlite-texts.ts";
import { countAnew, isSizeRight } from "./sqlite-size.ts";
import type { StoreFinding } from "../store.ts";

const KINDS = ["chunk", "summary"] as const;
/** SQLite error code for a damaged database. */
const CORRUPT = 11;

/** Compares the index of words with the passages, and runs SQLite's integrity check. */
export function checkSqlite(driver: SqliteDriver): StoreFinding[] {
  const findings: StoreFinding[] = [];
  const rows = driver.all("pragma integrity_check(10)").map((row) => String(Object.values(row)[0]));
  if (rows.length !== 1 || rows[0] !== "ok")
    findings.push({ what: `The file is damaged: ${rows.join("; ")}. Replace it with a backup.`, canMend: false });
  const orphans = driver.all("pragma foreign_key_check").length;
  if (orphans > 0) findings.push({ what: `${orphans} passages belong to no document.`, canMend: false });
  for (const kind of KINDS) {
    // Both counts use one snapshot, because another process may write meanwhile.
    if (!driver.atOnce(() => isSizeRight(driver, kind)))
      findings.push({ what: `The number of ${kind} passages differs from the stored total.`, canMend: true });
    try {
      // A transaction waits for the write lock before the check starts.
      driver.transaction(() =>
        driver.run(`insert into ${kind}_terms(${kind}_terms, rank) values ('integrity-check', 1)`),
      );
    } catch (error) {
      if (!isDamage(error)) throw error;
      findings.push({ what: `The ${kind} index differs from its texts: ${(error as Error).message}.`, canMend: true });
    }
  }
  return [...findings, ...checkDigests(driver), ...checkPlainTexts(driver)];
}

/** Returns false for errors that do not concern the index, such as a lock held by another process. */
function isDamage(error: unknown): boolean {
  const { code, errcode } = ((error as Error).cause ?? {}) as { readonly code?: string; readonly errcode?: number };
  return code?.startsWith("SQLITE_CORRUPT") === true || (errcode ?? 0) % 256 === CORRUPT;
}

/** Rebuilds the word indexes, the digests and the counts. Must be called in a transaction. */
export function repairSqlite(driver: SqliteDriver): void {
  for (const kind of KINDS) {
    driver.run(`insert into ${kind}_terms(${kind}_terms) values ('rebuild')`);
    countAnew(driver, kind);
  }
  repairDigests(driver);
  repairPlainTexts(driver);
}

/**
 * Writes a snapshot of the library into a new file while others read and write. The file appears only when it is
 * complete. Rejects if the file exists.
 */
export async function copySqlite(driver: SqliteDriver, file: string): Promise<void> {
  const isThere = await access(file).then(
    () => true,
    () => false,
  );
  if (isThere) throw driver.fail("unavailable", `${file} already exists. Name a new file.`);
  const part = `${file}.part`;
  // Removes the partial file of an interrupted copy.
  await rm(part, { force: true });
  await inPlaceOf(file, part, () => driver.run("vacuum into ?", [part]));
}
