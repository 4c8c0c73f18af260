import { repeatedIn } from "../../search/term-counter.ts";
import type { SqliteDriver } from "./sqlite-driver.ts";
import type { StoreFinding, PassageKind } from "../store.ts";
import { bytesIn, bytesOf, numbersOf } from "./sqlite-values.ts";
import { roundRows, type RoundedRows } from "../vectors/vector-rows.ts";

/**
 * SQL of the digest tables. Digests contain the data of all passages that a search needs, stored so that a few large
 * reads suffice: the lengths, the rounded vectors, and the terms that occur more than once in a passage. All of it is
 * derived from the passages. A document without a digest of this revision, written by an earlier version, is searched
 * by its passages; `repair` creates its digest.
 */
function tables(kind: PassageKind): string {
  return `
  create table if not exists ${kind}_digest(
    document_id integer primary key references document(id) on delete cascade,
    revision integer not null,
    first integer not null,
    lengths blob not null,
    vectors blob
  );
  create virtual table if not exists ${kind}_repeated using fts5(
    terms, content='', detail=none, columnsize=0,
    tokenize="unicode61 remove_diacritics 0 categories 'L* N* Co'"
  );`;
}

const KINDS = ["chunk", "summary"] as const;
export const DIGEST_TABLES = KINDS.map(tables).join("");
/** Size of a digest's header: dimensions, number of vectors, and rounding errors. */
const HEAD_BYTES = 24;

/** Lengths in the order of the passages, which are numbered consecutively from `first`. */
export interface DigestLengths {
  readonly first: number;
  readonly lengths: Uint32Array;
}

/** Creates the tables if the file has no such tables. */
export function prepareDigests(driver: SqliteDriver): void {
  const isThere = driver.get("select 1 from sqlite_master where name = 'summary_repeated'");
  if (!isThere) driver.transaction(() => driver.exec(DIGEST_TABLES));
}

/** Returns the lengths of a document's passages; undefined if there is no digest of this revision. */
export function lengthsOf(driver: SqliteDriver, kind: PassageKind, own: readonly number[]): DigestLengths | undefined {
  const row = driver.get(`select first, lengths from ${kind}_digest where document_id = ? and revision = ?`, own);
  return row && { first: Number(row["first"]), lengths: new Uint32Array(bytesIn(row["lengths"])) };
}

/**
 * Returns the rounded vectors of a document: undefined if there is no digest of this revision, "none" if no passage has
 * a vector.
 */
export function vectorsOf(
  driver: SqliteDriver,
  kind: PassageKind,
  own: readonly number[],
): RoundedRows | "none" | undefined {
  const row = driver.get(`select first, vectors from ${kind}_digest where document_id = ? and revision = ?`, own);
  return row && (row["vectors"] === null ? "none" : unpacked(bytesIn(row["vectors"]), Number(row["first"])));
}

/** Writes the digests of a document. Must be called in the transaction that writes its passages, after them. */
export function writeDigests(driver: SqliteDriver, documentId: number): void {
  for (const kind of KINDS) {
    for (const { id, repeated } of repeatedOf(driver, kind, documentId))
      driver.run(`insert into ${kind}_repeated(rowid, terms) values (?, ?)`, [id, repeated]);
    writeDigest(driver, kind, documentId);
  }
}

/**
 * Rewrites the digests of a document whose vectors changed. A document without a digest gets none, because its repeated
 * terms are missing too.
 */
export function renewDigests(driver: SqliteDriver, documentId: number): void {
  for (const kind of KINDS) if (hasDigest(driver, kind, documentId)) writeDigest(driver, kind, documentId);
}

/**
 * Removes all vectors from the digests, after they were removed from all passages and each document got this revision.
 */
export function clearDigests(driver: SqliteDriver, revision: number): void {
  for (const kind of KINDS) driver.run(`update ${kind}_digest set vectors = null, revision = ?`, [revision]);
}

/**
 * Removes the digests of a document. Must be called before its passages are deleted: the index stores no text, so
 * deleting from it needs the indexed terms.
 */
export function removeDigests(driver: SqliteDriver, documentId: number): void {
  for (const kind of KINDS) {
    if (!hasDigest(driver, kind, documentId)) continue;
    for (const { id, repeated } of repeatedOf(driver, kind, documentId))
      driver.run(`insert into ${kind}_repeated(${kind}_repeated, rowid, terms) values ('delete', ?, ?)`, [
        id,
        repeated,
      ]);
    driver.run(`delete from ${kind}_digest where document_id = ?`, [documentId]);
  }
}

export function checkDigests(driver: SqliteDriver): StoreFinding[] {
  return KINDS.flatMap((kind): StoreFinding[] => {
    const missing = Number(
      driver.get(
        `select count(*) as n from document left join ${kind}_digest as digest on document_id = document.id
         where digest.revision is not document.revision`,
      )!["n"],
    );
    const what =
      `The ${kind} passages of ${missing} documents are searched slowly, because an earlier version ` + `wrote them.`;
    return missing > 0 ? [{ what, canMend: true }] : [];
  });
}

export function repairDigests(driver: SqliteDriver): void {
  for (const kind of KINDS) {
    driver.run(`insert into ${kind}_repeated(${kind}_repeated) values ('delete-all')`);
    driver.run(`delete from ${kind}_digest`);
  }
  for (const { id } of driver.all("select id from document")) writeDigests(driver, Number(id));
}

function hasDigest(driver: SqliteDriver, kind: PassageKind, documentId: number): boolean {
  return driver.get(`select 1 from ${kind}_digest where document_id = ?`, [documentId]) !== undefined;
}

function repeatedOf(driver: SqliteDriver, kind: PassageKind, documentId: number) {
  return driver
    .all(`select id, terms from ${kind} where document_id = ?`, [documentId])
    .map(({ id, terms }) => ({ id: Number(id), repeated: repeatedIn(String(terms)).join(" ") }))
    .filter(({ repeated }) => repeated !== "");
}

function writeDigest(driver: SqliteDriver, kind: PassageKind, documentId: number): void {
  const rows = driver.all(`select id, length, vector from ${kind} where document_id = ? order by id`, [documentId]);
  const first = Number(rows[0]?.["id"] ?? 0);
  const vectors = rows.filter(({ vector }) => vector !== null);
  const rounded = roundRows(new Map(vectors.map(({ id, vector }) => [Number(id), numbersOf(vector)])));
  driver.run(
    `insert or replace into ${kind}_digest(document_id, revision, first, lengths, vectors)
     values (?, (select revision from document where id = ?), ?, ?, ?)`,
    [
      documentId,
      documentId,
      first,
      bytesOf(Uint32Array.from(rows, ({ length }) => Number(length))),
      rounded ? packed(rounded, first) : null,
    ],
  );
}

/**
 * Returns the binary form of a digest: header, positions relative to the first passage, scales, numbers and fractions.
 */
function packed({ dimensions, ids, scales, numbers, parts, error, fineError }: RoundedRows, first: number): Uint8Array {
  const count = ids.length;
  const bytes = new Uint8Array(HEAD_BYTES + 8 * count + 2 * numbers.length);
  new Uint32Array(bytes.buffer, 0, 2).set([dimensions, count]);
  new Float64Array(bytes.buffer, 8, 2).set([error, fineError]);
  new Uint32Array(bytes.buffer, HEAD_BYTES, count).set(ids.map((id) => id - first));
  new Float32Array(bytes.buffer, HEAD_BYTES + 4 * count, count).set(scales);
  bytes.set(new Uint8Array(numbers.buffer), HEAD_BYTES + 8 * count);
  bytes.set(new Uint8Array(parts.buffer), HEAD_BYTES + 8 * count + numbers.length);
  return bytes;
}

function unpacked(bytes: ArrayBuffer, first: number): RoundedRows {
  const [dimensions = 0, count = 0] = new Uint32Array(bytes, 0, 2);
  const [error = 0, fineError = 0] = new Float64Array(bytes, 8, 2);
  const numbersAt = HEAD_BYTES + 8 * count;
  return {
    dimensions,
    error,
    fineError,
    ids: Float64Array.from(new Uint32Array(bytes, HEAD_BYTES, count), (place) => first + place),
    scales: new Float32Array(bytes, HEAD_BYTES + 4 * count, count),
    numbers: new Int8Array(bytes, numbersAt, count * dimensions),
    parts: new Int8Array(bytes, numbersAt + count * dimensions, count * dimensions),
  };
}
