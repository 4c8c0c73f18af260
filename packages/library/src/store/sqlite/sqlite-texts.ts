import { plainLetters } from "../../search/plain-text.ts";
import { placesIn, type TextPlace, type TextPlacesRequest } from "../../search/text-places.ts";
import type { StoreFinding } from "../store.ts";
import type { SqliteDriver } from "./sqlite-driver.ts";

/**
 * The index of quotations: the normalised text of each document, so that one pass over it finds every place. A document
 * without an entry, written by an earlier version, is normalised while it is searched; `repair` creates its entry.
 */
export const PLAIN_TABLE = `
  create table if not exists plain(
    document_id integer primary key references document(id) on delete cascade,
    text text not null
  );`;

/** Creates the table if the file has none. */
export function preparePlainTexts(driver: SqliteDriver): void {
  const isThere = driver.get("select 1 from sqlite_master where name = 'plain'");
  if (!isThere) driver.transaction(() => driver.exec(PLAIN_TABLE));
}

/** Stores the normalised text of a document. Must be called in the transaction that writes the document. */
export function writePlainText(driver: SqliteDriver, documentId: number, text: string): void {
  driver.run("insert or replace into plain(document_id, text) values (?, ?)", [documentId, plainLetters(text)]);
}

export function removePlainText(driver: SqliteDriver, documentId: number): void {
  driver.run("delete from plain where document_id = ?", [documentId]);
}

/** Returns the places of a quotation, in the order of the document list. Blocks the thread. */
export function findTextPlaces(driver: SqliteDriver, request: TextPlacesRequest): TextPlace[] {
  const { plain, sourceId, most } = request;
  const rows = driver.all(
    `select document.id, source_id from document left join plain on document_id = document.id
     where (? is null or source_id = ?) and (plain.text is null or instr(plain.text, ?) > 0)
     order by author_key, work_key, source_id`,
    [sourceId ?? null, sourceId ?? null, plain],
  );
  const found: TextPlace[] = [];
  for (const { id, source_id: source } of rows) {
    const text = String(driver.get("select text from document where id = ?", [Number(id)])?.["text"] ?? "");
    for (const [from, to] of placesIn(text, { ...request, most: most - found.length }))
      found.push({ sourceId: String(source), from, to });
    if (found.length >= most) break;
  }
  return found;
}

export function checkPlainTexts(driver: SqliteDriver): StoreFinding[] {
  const missing = Number(
    driver.get("select count(*) as n from document where id not in (select document_id from plain)")!["n"],
  );
  const what = `Quotations are searched slowly in ${missing} documents, because an earlier version wrote them.`;
  return missing > 0 ? [{ what, canMend: true }] : [];
}

export function repairPlainTexts(driver: SqliteDriver): void {
  driver.run("delete from plain");
  for (const { id } of driver.all("select id from document")) {
    const text = String(driver.get("select text from document where id = ?", [Number(id)])!["text"]);
    writePlainText(driver, Number(id), text);
  }
}
