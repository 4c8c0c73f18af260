import type { Candidate, TermStats, WantedTerms } from "../../search/bm25.ts";
import { insertPassages, removeDocument, setFrequencies } from "./postgres-write.ts";
import { openPostgres, type PostgresDriver, type PostgresSession } from "./postgres-driver.ts";
import { plainLetters } from "../../search/plain-text.ts";
import { placesInSlices, type TextPlace, type TextPlacesRequest } from "../../search/text-places.ts";
import { prepareTables } from "./postgres-schema.ts";
import { arrayOf, keysOf, storable, storableJson, whereOf } from "./postgres-values.ts";
import { checkPostgres, NEAREST_INDEX_FROM, repairPostgres } from "./postgres-care.ts";
import { candidateOf, documentOf, passageFieldsOf, passageOf, type PassageRow } from "../rows.ts";
import type {
  DeleteResult,
  DocumentFields,
  Filter,
  StoreFinding,
  LibraryStore,
  Near,
  PassageKind,
  PassageRange,
  Passages,
  StoredDocument,
  StoredPassage,
  VectorsOf,
  WholeDocument,
  Window,
} from "../store.ts";
import { mismatch, storeFailure } from "../store-failure.ts";
import { dot, readVector, writeVector } from "../vectors/vectors.ts";

const KINDS = ["chunk", "summary"] as const;
/** Prefix of the schema of each collection. */
const SCHEMA_PREFIX = "library_";
/** Minimum number of candidates that the vector index examines. */
const EF_SEARCH = 200;
const MAX_EF_SEARCH = 1_000;

/** Opens the library at `postgres://…?collection=name`. Creates its tables if they do not exist. */
export async function openPostgresStore(url: URL, collection: string): Promise<LibraryStore> {
  const driver = await openPostgres(url);
  return createPostgresStore(driver, collection, `${url.host}${url.pathname}`);
}

/** Returns whether the collection exists. */
export async function isPostgresStoreThere(url: URL, collection: string): Promise<boolean> {
  const driver = await openPostgres(url);
  try {
    const rows = await driver.query("select 1 from pg_namespace where nspname = $1", [`${SCHEMA_PREFIX}${collection}`]);
    return rows.length > 0;
  } finally {
    await driver.close();
  }
}

/** Returns the names of the collections in a database. */
export async function postgresCollections(url: URL): Promise<string[]> {
  const driver = await openPostgres(url);
  try {
    return await collectionsOf(driver);
  } finally {
    await driver.close();
  }
}

/** Returns the names of the schemas that contain a library's tables, without the prefix. */
export async function collectionsOf({ query }: Pick<PostgresDriver, "query">): Promise<string[]> {
  const rows = await query(
    `select table_schema as name from information_schema.tables
     where table_name = 'meta' and starts_with(table_schema, $1)`,
    [SCHEMA_PREFIX],
  );
  return rows.map(({ name }) => String(name).slice(SCHEMA_PREFIX.length));
}

/** Creates a library that uses a connection and closes it. */
export async function createPostgresStore(
  driver: PostgresDriver,
  collection: string,
  place: string,
): Promise<LibraryStore> {
  const schema = `${SCHEMA_PREFIX}${collection}`;
  try {
    await prepareTables(driver, schema);
    return new PostgresStore(driver, schema, place);
  } catch (error) {
    await driver.close();
    throw error;
  }
}

class PostgresStore implements LibraryStore {
  readonly #driver: PostgresDriver;
  readonly #schema: string;
  readonly #place: string;
  readonly #document: string;
  readonly backupAdvice = "Back up the database with `pg_dump`; `toolyard library export` writes a file.";

  constructor(driver: PostgresDriver, schema: string, place: string) {
    this.#driver = driver;
    this.#schema = schema;
    this.#place = place;
    this.#document = `id, source_id, fields, created, updated,
      (select count(*) from ${schema}.chunk where document_id = document.id) as chunks,
      (select count(*) from ${schema}.summary where document_id = document.id) as summaries`;
  }

  async describe() {
    const [row] = await this.#driver.query("select current_setting('server_version') as version");
    return { engine: `PostgreSQL ${String(row?.["version"])}`, place: `${this.#place} (${this.#schema})` };
  }

  async replaceDocument(document: DocumentFields, text: string, passages: Passages): Promise<void> {
    const schema = this.#schema;
    await this.#driver.transaction(async (session) => {
      // Serialises writers, because they update the same frequency counts.
      await session.query("select pg_advisory_xact_lock(hashtext($1))", [schema]);
      if (passages.embedder !== undefined) await expectEmbedder(session, schema, passages.embedder);
      const before = await removeDocument(session, schema, document.sourceId);
      const now = new Date().toISOString();
      const [row] = await session.query(
        `insert into ${schema}.document(source_id, uri, content_hash, author_key, work_key, language, fields, text,
           plain, created, updated) values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) returning id`,
        [
          ...keysOf(document),
          storableJson(document),
          storable(text),
          storable(plainLetters(text)),
          before?.created ?? passages.created ?? now,
          now,
        ],
      );
      const id = Number(row!["id"]);
      await insertPassages(session, { table: `${schema}.chunk`, documentId: id }, passages.chunks);
      await insertPassages(session, { table: `${schema}.summary`, documentId: id }, passages.summaries);
      for (const kind of KINDS) await setFrequencies(session, { schema, kind, documentId: id }, 1);
    });
  }

  deleteDocument(sourceId: string): Promise<DeleteResult | undefined> {
    return this.#driver.transaction(async (session) => {
      await session.query("select pg_advisory_xact_lock(hashtext($1))", [this.#schema]);
      const removed = await removeDocument(session, this.#schema, sourceId);
      return removed && { chunks: removed.chunks, summaries: removed.summaries };
    });
  }

  document(sourceId: string): Promise<StoredDocument | undefined> {
    return this.#documentWhere("source_id = $1", sourceId);
  }

  documentByUri(uri: string): Promise<StoredDocument | undefined> {
    return this.#documentWhere("uri = $1", uri);
  }

  documentByHash(contentHash: string): Promise<StoredDocument | undefined> {
    return this.#documentWhere("content_hash = $1", contentHash);
  }

  async textOf(sourceId: string): Promise<string | undefined> {
    const [row] = await this.#driver.query(`select text from ${this.#schema}.document where source_id = $1`, [
      sourceId,
    ]);
    return row && String(row["text"]);
  }

  async textPlaces(request: TextPlacesRequest, signal?: AbortSignal): Promise<TextPlace[]> {
    const { plain, sourceId, most } = request;
    const rows = await this.#driver.query(
      `select source_id from ${this.#schema}.document
       where ($1::text is null or source_id = $1) and (plain is null or position($2 in plain) > 0)
       order by author_key collate "C", work_key collate "C", source_id collate "C"`,
      [sourceId ?? null, storable(plain)],
    );
    const found: TextPlace[] = [];
    for (const { source_id: source } of rows) {
      const text = (await this.textOf(String(source))) ?? "";
      const places = await placesInSlices(text, { ...request, most: most - found.length }, signal);
      for (const [from, to] of places) found.push({ sourceId: String(source), from, to });
      if (found.length >= most) break;
    }
    return found;
  }

  async documents(filter: Filter, { limit, offset }: Window) {
    const { sql, values } = whereOf(filter, 1);
    const from = `from ${this.#schema}.document as document where ${sql}`;
    const order = `order by author_key collate "C", work_key collate "C", source_id collate "C"`;
    const page = `limit $${values.length + 1} offset $${values.length + 2}`;
    return this.#atOnce(async ({ query }) => {
      const rows = await query(`select ${this.#document} ${from} ${order} ${page}`, [...values, limit, offset]);
      const [total] = await query(`select count(*) as n ${from}`, values);
      return { documents: rows.map(documentOf), total: Number(total?.["n"]) };
    });
  }

  async languages(): Promise<string[]> {
    const rows = await this.#driver.query(
      `select distinct language collate "C" as language from ${this.#schema}.document
       where language is not null order by 1`,
    );
    return rows.map(({ language }) => String(language));
  }

  async passages(kind: PassageKind, ids: readonly number[]): Promise<StoredPassage[]> {
    const rows = await this.#driver.query(`${this.#passages(kind)} where passage.id = any($1::bigint[])`, [
      arrayOf(ids),
    ]);
    const byId = new Map(rows.map((row) => [Number(row["id"]), passageOf(row as PassageRow)]));
    return ids.flatMap((id) => byId.get(id) ?? []);
  }

  async range(kind: PassageKind, { sourceId, section = "", limit, offset }: PassageRange) {
    const where = "where source_id = $1 and left(section_path, length($2)) = $2";
    const values = [sourceId, storable(section)];
    const page = "order by ordinal limit $3 offset $4";
    return this.#atOnce(async ({ query }) => {
      const rows = await query(`${this.#passages(kind)} ${where} ${page}`, [...values, limit, offset]);
      const [total] = await query(`select count(*) as n ${this.#from(kind)} ${where}`, values);
      return { passages: rows.map((row) => passageOf(row as PassageRow)), total: Number(total?.["n"]) };
    });
  }

  async termStats(kind: PassageKind, terms: readonly string[]): Promise<TermStats> {
    const [size] = await this.#driver.query(`select passages, length from ${this.#schema}.size where kind = $1`, [
      kind,
    ]);
    const rows = await this.#driver.query(
      `select term, frequency from ${this.#schema}.term where kind = $1 and term = any($2::text[]) and frequency > 0`,
      [kind, arrayOf(terms)],
    );
    const passages = Number(size?.["passages"] ?? 0);
    return {
      passages,
      averageLength: passages === 0 ? 0 : Number(size!["length"]) / passages,
      frequencies: new Map(rows.map(({ term, frequency }) => [String(term), Number(frequency)])),
    };
  }

  async candidates(kind: PassageKind, { any, and }: WantedTerms, filter: Filter): Promise<Candidate[]> {
    if (any.length === 0) return [];
    const { sql, values } = whereOf(filter, 2);
    const rows = await this.#driver.query(
      `select passage.id, source_id, ordinal, terms, length ${this.#from(kind)}
       where words @@ $1::tsquery and ${sql}`,
      [and ? `(${either(any)})&(${either(and)})` : either(any), ...values],
    );
    return rows.map(candidateOf);
  }

  async nearest(kind: PassageKind, vector: Float32Array, { filter, count }: { filter: Filter; count: number }) {
    const { sql, values } = whereOf(filter, 3);
    const distance = `passage.vector::vector(${vector.length}) <#> $1::vector(${vector.length})`;
    const rows = await this.#driver.transaction(async ({ query, script }) => {
      const effort = Math.min(Math.max(EF_SEARCH, count), MAX_EF_SEARCH);
      // Set for this transaction only, because connections of the pool are reused.
      await script(`set local hnsw.iterative_scan = strict_order; set local hnsw.ef_search = ${effort}`);
      if (await this.#isSelective(query, filter)) await script("set local enable_indexscan = off");
      return query(
        `select passage.id, source_id, ordinal, -(${distance}) as similarity ${this.#from(kind)}
         where passage.vector is not null and ${sql} order by ${distance} limit $2`,
        [writeVector(vector), count, ...values],
      );
    });
    return rows.map(({ id, source_id: sourceId, ordinal, similarity }): Near => ({
      id: Number(id),
      sourceId: String(sourceId),
      ordinal: Number(ordinal),
      similarity: Number(similarity),
    }));
  }

  async similarities(kind: PassageKind, vector: Float32Array, ids: readonly number[]) {
    const rows = await this.#driver.query(
      `select id, vector::text as vector from ${this.#schema}.${kind}
       where vector is not null and id = any($1::bigint[])`,
      [arrayOf(ids)],
    );
    return new Map(rows.map((row) => [Number(row["id"]), dot(vector, readVector(String(row["vector"])))]));
  }

  async embedder(): Promise<string | undefined> {
    const [row] = await this.#driver.query(`select value from ${this.#schema}.meta where key = 'embedder'`);
    return row && String(row["value"]);
  }

  async clearVectors(embedder: string): Promise<void> {
    await this.#driver.transaction(async (session) => {
      await session.query("select pg_advisory_xact_lock(hashtext($1))", [this.#schema]);
      for (const kind of KINDS) {
        // The index accepts only vectors of one length.
        await session.script(`drop index if exists ${this.#schema}.${kind}_nearest`);
        await session.query(`update ${this.#schema}.${kind} set vector = null where vector is not null`);
      }
      await setMeta(session, this.#schema, ["embedder", embedder]);
    });
  }

  async setVectors(
    kind: PassageKind,
    { sourceId, embedder }: VectorsOf,
    vectors: ReadonlyMap<number, Float32Array>,
  ): Promise<void> {
    const rows = Array.from(vectors, ([id, vector]) => ({ id, vector: writeVector(vector) }));
    await this.#driver.transaction(async (session) => {
      await session.query("select pg_advisory_xact_lock(hashtext($1))", [this.#schema]);
      await expectEmbedder(session, this.#schema, embedder);
      await session.query(
        `update ${this.#schema}.${kind} as passage set vector = given.vector::vector
         from json_to_recordset($1::text::json) as given(id bigint, vector text),
           ${this.#schema}.document as document
         where passage.id = given.id and document.id = passage.document_id and source_id = $2`,
        [JSON.stringify(rows), sourceId],
      );
    });
  }

  whole(sourceId: string): Promise<WholeDocument | undefined> {
    return this.#atOnce(async ({ query }) => {
      const sql = `select ${this.#document}, text from ${this.#schema}.document as document where source_id = $1`;
      const [row] = await query(sql, [sourceId]);
      if (!row) return undefined;
      const passagesOf = async (kind: PassageKind) => {
        const own = `select passage.*, passage.vector::text as vector_text, source_id ${this.#from(kind)}`;
        const rows = await query(`${own} where source_id = $1 order by ordinal`, [sourceId]);
        return rows.map((passage) => passageFieldsOf(passage as PassageRow, vectorIn));
      };
      const [chunks, summaries] = [await passagesOf("chunk"), await passagesOf("summary")];
      const [meta] = await query(`select value from ${this.#schema}.meta where key = 'embedder'`);
      return {
        document: JSON.parse(String(row["fields"])) as DocumentFields,
        text: String(row["text"]),
        passages: {
          chunks,
          summaries,
          created: String(row["created"]),
          ...(meta && { embedder: String(meta["value"]) }),
        },
      };
    });
  }

  check(): Promise<StoreFinding[]> {
    return checkPostgres(this.#driver, this.#schema);
  }

  repair(): Promise<void> {
    return repairPostgres(this.#driver, this.#schema);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#driver.close();
  }

  /** Runs reads in one snapshot, so that concurrent writes are invisible. */
  #atOnce<T>(work: (session: PostgresSession) => Promise<T>): Promise<T> {
    return this.#driver.transaction(async (session) => {
      await session.script("set transaction isolation level repeatable read, read only");
      return work(session);
    });
  }

  #from(kind: PassageKind): string {
    return `from ${this.#schema}.${kind} as passage
      join ${this.#schema}.document as document on document.id = document_id`;
  }

  #passages(kind: PassageKind): string {
    return `select passage.id, source_id, ordinal, level, section, char_from, char_to, page_from, page_to,
      passage.text, concepts ${this.#from(kind)}`;
  }

  async #documentWhere(condition: string, value: string): Promise<StoredDocument | undefined> {
    const [row] = await this.#driver.query(
      `select ${this.#document} from ${this.#schema}.document as document where ${condition} order by id limit 1`,
      [value],
    );
    return row && documentOf(row);
  }

  /** Returns whether a filter leaves so few passages that an exact scan is fast. */
  async #isSelective(query: PostgresDriver["query"], filter: Filter): Promise<boolean> {
    const { sql, values } = whereOf(filter, 1);
    const [index] = await query("select to_regclass($1) as name", [`${this.#schema}.chunk_nearest`]);
    if (sql === "true" || !index?.["name"]) return false;
    const [row] = await query(
      `select count(*) as n from (select 1 ${this.#from("chunk")} where ${sql} limit ${NEAREST_INDEX_FROM}) as few`,
      values,
    );
    return Number(row?.["n"]) < NEAREST_INDEX_FROM;
  }
}

function either(terms: readonly string[]): string {
  return terms.map((term) => `'${term}'`).join("|");
}

function vectorIn(row: PassageRow): Float32Array | undefined {
  return typeof row["vector_text"] === "string" ? readVector(row["vector_text"]) : undefined;
}

/** Checks the embedder of the library; the first vectors determine it. Must be called within the serialised writes. */
async function expectEmbedder(session: PostgresSession, schema: string, embedder: string): Promise<void> {
  const [row] = await session.query(`select value from ${schema}.meta where key = 'embedder'`);
  if (row === undefined) await setMeta(session, schema, ["embedder", embedder]);
  else if (row["value"] !== embedder) throw storeFailure("mismatch", mismatch(String(row["value"]), embedder));
}

async function setMeta(
  { query }: Pick<PostgresDriver, "query">,
  schema: string,
  pair: readonly [key: string, value: string],
): Promise<void> {
  const sql = `insert into ${schema}.meta values ($1, $2) on conflict (key) do update set value = excluded.value`;
  await query(sql, pair);
}
