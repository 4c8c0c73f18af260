import type { SqliteDriver } from "./sqlite-driver.ts";
import type { PassageKind } from "../store.ts";

/** Number of passages, and of their words together. */
export interface Size {
  readonly passages: number;
  readonly length: number;
}

/**
 * Returns the size of a document by counting, and of the library from a stored total: counting would read the whole
 * file for every search.
 */
export function sizeOf(driver: SqliteDriver, kind: PassageKind, documentId?: number): Size {
  if (documentId !== undefined) return counted(driver, kind, documentId);
  return keptSize(driver, kind) ?? counted(driver, kind);
}

/** Adds a document's passages to the stored totals, in the transaction that writes them. Negative numbers subtract. */
export function resize(driver: SqliteDriver, kind: PassageKind, change: Size): void {
  const kept = keptSize(driver, kind);
  // In a file of an earlier version without totals, all passages are counted once. The count includes passages that
  // were just written.
  const { passages, length } = kept ?? counted(driver, kind);
  const isNew = kept !== undefined || change.passages < 0;
  keep(
    driver,
    kind,
    isNew ? { passages: passages + change.passages, length: length + change.length } : { passages, length },
  );
}

/** Returns whether the stored totals are correct. */
export function isSizeRight(driver: SqliteDriver, kind: PassageKind): boolean {
  const [kept, own] = [keptSize(driver, kind), counted(driver, kind)];
  return !kept || (kept.passages === own.passages && kept.length === own.length);
}

export function countAnew(driver: SqliteDriver, kind: PassageKind): void {
  keep(driver, kind, counted(driver, kind));
}

function keptSize(driver: SqliteDriver, kind: PassageKind): Size | undefined {
  const row = driver.get("select value from meta where key = ?", [`size ${kind}`]);
  if (!row) return undefined;
  const [passages, length] = String(row["value"]).split(" ");
  return { passages: Number(passages), length: Number(length) };
}

function keep(driver: SqliteDriver, kind: PassageKind, { passages, length }: Size): void {
  driver.run("insert or replace into meta values (?, ?)", [`size ${kind}`, `${passages} ${length}`]);
}

function counted(driver: SqliteDriver, kind: PassageKind, documentId?: number): Size {
  const own = documentId === undefined ? "" : "where document_id = ?";
  const row = driver.get(
    `select count(*) as n, coalesce(sum(length), 0) as length from ${kind} ${own}`,
    documentId === undefined ? [] : [documentId],
  )!;
  return { passages: Number(row["n"]), length: Number(row["length"]) };
}
