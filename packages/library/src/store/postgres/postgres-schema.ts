import { storeFailure } from "../store-failure.ts";
import type { PostgresDriver } from "./postgres-driver.ts";

const VERSION = 1;

/** Minimum version of pgvector. Earlier versions return too few results with a filter. */
const MIN_PGVECTOR = [0, 8] as const;

/**
 * Returns the columns of a passage, the same for both kinds. The index on `words` stores only which passages contain a
 * term.
 */
function passageTable(schema: string, kind: string): string {
  return `
    create table ${schema}.${kind}(
      id bigint generated always as identity primary key,
      document_id bigint not null references ${schema}.document(id) on delete cascade,
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
      words tsvector not null,
      vector vector
    );
    create index ${kind}_order on ${schema}.${kind}(document_id, ordinal);
    create index ${kind}_words on ${schema}.${kind} using gin(words) with (fastupdate = off);`;
}

function tables(schema: string): string {
  return `
    create schema if not exists ${schema};
    create table ${schema}.meta(key text primary key, value text not null);
    create table ${schema}.document(
      id bigint generated always as identity primary key,
      source_id text not null unique,
      uri text not null,
      content_hash text not null,
      author_key text not null,
      work_key text not null,
      language text,
      fields text not null,
      text text not null,
      plain text,
      created text not null,
      updated text not null
    );
    create index document_uri on ${schema}.document(uri);
    create index document_hash on ${schema}.document(content_hash);
    create table ${schema}.term(kind text, term text collate "C", frequency integer not null, primary key(kind, term));
    create table ${schema}.size(kind text primary key, passages bigint not null, length bigint not null);
    ${passageTable(schema, "chunk")}
    ${passageTable(schema, "summary")}
    insert into ${schema}.size values ('chunk', 0, 0), ('summary', 0, 0);
    insert into ${schema}.meta values ('schema', '${VERSION}');`;
}

/**
 * Creates the tables of a collection if they are missing. Rejects if the server or the existing tables cannot be used.
 */
export async function prepareTables(driver: PostgresDriver, schema: string): Promise<void> {
  await expectPgvector(driver);
  const found = await versionOf(driver, schema);
  if (found === undefined)
    await driver.transaction(async ({ query, script }) => {
      // Serialises processes that create the tables concurrently.
      await query("select pg_advisory_xact_lock(hashtext($1))", [schema]);
      if ((await versionOf({ query }, schema)) === undefined) await script(tables(schema));
    });
  else if (found === VERSION) await addPlainTexts(driver, schema);
  else
    throw storeFailure(
      "unavailable",
      `The collection ${schema} is a library of version ${found}, but this program reads version ${VERSION}. ` +
        (found > VERSION
          ? "Update Toolyard, or name "
          : "Export it with the Toolyard version that created it, and name ") +
        "another collection.",
    );
}

/** Databases of earlier versions have no column for the normalised texts of quotations. */
async function addPlainTexts({ query, script }: PostgresDriver, schema: string): Promise<void> {
  const [column] = await query(
    `select 1 from information_schema.columns
     where table_schema = $1 and table_name = 'document' and column_name = 'plain'`,
    [schema],
  );
  if (!column) await script(`alter table ${schema}.document add column if not exists plain text`);
}

async function expectPgvector(driver: PostgresDriver): Promise<void> {
  const installed = "select extversion as version from pg_extension where extname = 'vector'";
  let [row] = await driver.query(installed);
  if (!row) {
    try {
      await driver.script("create extension if not exists vector");
    } catch (error) {
      throw storeFailure(
        "unavailable",
        "The database lacks the extension pgvector, which stores vectors, and this role may not create it. " +
          "Have the database's " +
          "owner run: create extension vector;",
        error,
      );
    }
    [row] = await driver.query(installed);
  }
  const version = String(row?.["version"]);
  const [major = 0, minor = 0] = version.split(".").map(Number);
  if (major > MIN_PGVECTOR[0] || (major === MIN_PGVECTOR[0] && minor >= MIN_PGVECTOR[1])) return;
  throw storeFailure(
    "unavailable",
    `The database has pgvector ${version}, but at least ${MIN_PGVECTOR.join(".")} is required to find enough ` +
      "results with a " +
      "filter. Have its owner update the extension: alter extension vector update;",
  );
}

async function versionOf({ query }: Pick<PostgresDriver, "query">, schema: string): Promise<number | undefined> {
  const [table] = await query("select to_regclass($1) as name", [`${schema}.meta`]);
  if (table?.["name"] === null || table?.["name"] === undefined) return undefined;
  const [row] = await query(`select value from ${schema}.meta where key = 'schema'`);
  return row && Number(row["value"]);
}
