import { DIGEST_TABLES, prepareDigests } from "./sqlite-digest.ts";
import type { SqliteDriver } from "./sqlite-driver.ts";
import { PLAIN_TABLE, preparePlainTexts } from "./sqlite-texts.ts";

const VERSION = 1;

/** Columns of a passage, the same for both kinds. Ids of deleted passages are never reused. */
const PASSAGE = `
  id integer primary key autoincrement,
  document_id integer not null references document(id) on delete cascade,
  ordinal integer not null,
  level integer not null,
  section text not null,
  section_path text not null,
  char_from integer not null,
  char_to integer not null,
  page_from integer,
  page_to integer,
  text text not null,
  terms text not null,
  length integer not null,
  concepts text not null,
  vector blob`;

// `detail=none` and no column sizes: the index stores only which passages contain a term. Terms are already stems, so
// the tokenizer of SQLite must leave letters and digits unchanged.
const TERMS = `detail=none, columnsize=0, tokenize="unicode61 remove_diacritics 0 categories 'L* N* Co'"`;

function passageTables(kind: string): string {
  return `
    create table ${kind}(${PASSAGE});
    create index ${kind}_order on ${kind}(document_id, ordinal);
    create virtual table ${kind}_terms using fts5(terms, content='${kind}', content_rowid='id', ${TERMS});
    create virtual table ${kind}_vocabulary using fts5vocab(${kind}_terms, 'row');`;
}

const SCHEMA = `
  create table meta(key text primary key, value text not null) without rowid;
  create table document(
    id integer primary key,
    source_id text not null unique,
    uri text not null,
    content_hash text not null,
    author_key text not null,
    work_key text not null,
    language text,
    revision integer not null,
    fields text not null,
    text text not null,
    created text not null,
    updated text not null
  );
  create index document_uri on document(uri);
  create index document_language on document(language);
  create index document_hash on document(content_hash);
  ${passageTables("chunk")}
  ${passageTables("summary")}
  insert into meta values ('schema', '${VERSION}'), ('revision', '0'), ('size chunk', '0 0'), ('size summary', '0 0');`;

/** Creates the tables of a new file. Throws with kind `unavailable` for a file of a later version. */
export function prepareTables(driver: SqliteDriver, path: string): void {
  const found = versionOf(driver);
  if (found === undefined)
    driver.transaction(() => {
      // Another process may have created the tables meanwhile.
      if (versionOf(driver) === undefined) driver.exec(`${SCHEMA} ${DIGEST_TABLES} ${PLAIN_TABLE}`);
    });
  else if (found === VERSION) {
    prepareDigests(driver);
    preparePlainTexts(driver);
  } else
    throw driver.fail(
      "unavailable",
      `${path} is a library of version ${found}, but this program reads version ${VERSION}. ` +
        (found > VERSION
          ? "Update Toolyard, or name "
          : "Export it with the Toolyard version that created it, and name ") +
        "another file.",
    );
}

/** Returns the revision, which differs after every change, also by another process. */
export function revisionOf(driver: SqliteDriver): number {
  return Number(driver.get("select value from meta where key = 'revision'")!["value"]);
}

function versionOf(driver: SqliteDriver): number | undefined {
  const hasMeta = driver.get("select 1 from sqlite_master where type = 'table' and name = 'meta'");
  if (!hasMeta) return undefined;
  return Number(driver.get("select value from meta where key = 'schema'")?.["value"]);
}
