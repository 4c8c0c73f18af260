import type { Candidate, TermStats } from "../search/bm25.ts";
import { authorKey, plainWords } from "../search/names.ts";
import { candidateOf, documentOf, passageFieldsOf, passageOf } from "./rows.ts";
import { checkSqlite, copySqlite, repairSqlite } from "./sqlite-care.ts";
import { resize, sizeOf } from "./sqlite-size.ts";
import { openSqlite, type SqliteDriver, type Value } from "./sqlite-driver.ts";
import { prepareTables, revisionOf } from "./sqlite-schema.ts";
import {
  SECTION_SEPARATOR,
  type Deleted,
  type DocumentFields,
  type Filter,
  type Finding,
  type LibraryStore,
  type Near,
  type PassageFields,
  type PassageKind,
  type PassageRange,
  type Passages,
  type StoredDocument,
  type StoredPassage,
  type WholeDocument,
  type Window,
} from "./store.ts";
import { bytesOf, numbersOf, VectorTable } from "./vector-table.ts";

const KINDS = ["chunk", "summary"] as const;
const DOCUMENT = `id, source_id, fields, created, updated,
  (select count(*) from chunk where document_id = document.id) as chunks,
  (select count(*) from summary where document_id = document.id) as summaries`;
const PASSAGE = `passage.id, source_id, ordinal, level, section, char_from, char_to, page_from, page_to,
  passage.text, concepts`;

/** Opens the library in a file, and makes it where there is none. `:memory:` keeps nothing. */
export async function openSqliteStore(path: string, engine?: "libsql"): Promise<LibraryStore> {
  return createSqliteStore(await openSqlite(path, engine), path);
}

/** A library on a connection, which it closes. */
export function createSqliteStore(driver: SqliteDriver, path: string): LibraryStore {
  try {
    prepareTables(driver, path);
    return new SqliteStore(driver, path);
  } catch (error) {
    driver.close();
    throw error;
  }
}

class SqliteStore implements LibraryStore {
  readonly #driver: SqliteDriver;
  readonly #path: string;
  readonly #vectors: Readonly<Record<PassageKind, VectorTable>>;

  constructor(driver: SqliteDriver, path: string) {
    this.#driver = driver;
    this.#path = path;
    this.#vectors = { chunk: new VectorTable(driver, "chunk"), summary: new VectorTable(driver, "summary") };
  }

  async describe() {
    const version = this.#driver.get("select sqlite_version() as version")!["version"];
    return { engine: `SQLite ${String(version)} (${this.#driver.engine})`, place: this.#path };
  }

  async replaceDocument(document: DocumentFields, text: string, passages: Passages): Promise<void> {
    this.#driver.transaction(() => {
      const before = this.#driver.get("select created from document where source_id = ?", [document.sourceId]);
      this.#remove(document.sourceId);
      const now = new Date().toISOString();
      const revision = this.#bump();
      const { sourceId, uri, contentHash, author = "", work, language } = document;
      this.#driver.run(
        `insert into document(source_id, uri, content_hash, author_key, work_key, language, revision, fields, text,
           created, updated) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
        [
          sourceId,
          uri,
          contentHash,
          authorKey(author),
          plainWords(work),
          language ?? null,
          revision,
          JSON.stringify(document),
          text,
          String(before?.["created"] ?? passages.created ?? now),
          now,
        ],
      );
      const id = this.#idOf(sourceId)!;
      if (passages.embedder !== undefined) this.#setEmbedder(passages.embedder);
      for (const chunk of passages.chunks) this.#insert("chunk", id, chunk);
      for (const summary of passages.summaries) this.#insert("summary", id, summary);
      for (const kind of KINDS) resize(this.#driver, kind, sizeOf(this.#driver, kind, id));
    });
  }

  async deleteDocument(sourceId: string): Promise<Deleted | undefined> {
    return this.#driver.transaction(() => {
      const deleted = this.#remove(sourceId);
      if (deleted) this.#bump();
      return deleted;
    });
  }

  async document(sourceId: string): Promise<StoredDocument | undefined> {
    return this.#documentWhere("source_id = ?", sourceId);
  }

  async documentByUri(uri: string): Promise<StoredDocument | undefined> {
    return this.#documentWhere("uri = ?", uri);
  }

  async documentByHash(contentHash: string): Promise<StoredDocument | undefined> {
    return this.#documentWhere("content_hash = ?", contentHash);
  }

  async textOf(sourceId: string): Promise<string | undefined> {
    const row = this.#driver.get("select text from document where source_id = ?", [sourceId]);
    return row && String(row["text"]);
  }

  async documents(filter: Filter, { limit, offset }: Window) {
    const { sql, values } = whereOf(filter);
    const order = "order by author_key, work_key, source_id limit ? offset ?";
    const from = `from document where ${sql}`;
    return this.#driver.atOnce(() => {
      const rows = this.#driver.all(`select ${DOCUMENT} ${from} ${order}`, [...values, limit, offset]);
      const total = Number(this.#driver.get(`select count(*) as n ${from}`, values)?.["n"]);
      return { documents: rows.map(documentOf), total };
    });
  }

  async languages(): Promise<string[]> {
    const rows = this.#driver.all("select distinct language from document where language is not null order by 1");
    return rows.map(({ language }) => String(language));
  }

  async passages(kind: PassageKind, ids: readonly number[]): Promise<StoredPassage[]> {
    const rows = this.#driver.all(
      `select ${PASSAGE} from ${kind} as passage join document on document.id = document_id
       where passage.id in (select value from json_each(?))`,
      [JSON.stringify(ids)],
    );
    const byId = new Map(rows.map((row) => [Number(row["id"]), passageOf(row)]));
    return ids.flatMap((id) => byId.get(id) ?? []);
  }

  async range(kind: PassageKind, { sourceId, section = "", limit, offset }: PassageRange) {
    const from = `from ${kind} as passage join document on document.id = document_id
      where source_id = ? and substr(section_path, 1, length(?)) = ?`;
    const values = [sourceId, section, section];
    const page = "order by ordinal limit ? offset ?";
    return this.#driver.atOnce(() => {
      const rows = this.#driver.all(`select ${PASSAGE} ${from} ${page}`, [...values, limit, offset]);
      const total = Number(this.#driver.get(`select count(*) as n ${from}`, values)?.["n"]);
      return { passages: rows.map(passageOf), total };
    });
  }

  async termStats(kind: PassageKind, terms: readonly string[]): Promise<TermStats> {
    const { passages, length } = sizeOf(this.#driver, kind);
    const rows = this.#driver.all(
      `select term, doc from ${kind}_vocabulary where term in (select value from json_each(?))`,
      [JSON.stringify(terms)],
    );
    return {
      passages,
      averageLength: passages === 0 ? 0 : length / passages,
      frequencies: new Map(rows.map(({ term, doc }) => [String(term), Number(doc)])),
    };
  }

  async candidates(kind: PassageKind, terms: readonly string[], filter: Filter): Promise<Candidate[]> {
    if (terms.length === 0) return [];
    const { sql, values } = whereOf(filter);
    // `+`: the other way round, SQLite runs the match once for each passage of the author.
    const rows = this.#driver.all(
      `select passage.id, source_id, ordinal, terms, length
       from ${kind} as passage cross join document on document.id = +document_id
       where passage.id in (select rowid from ${kind}_terms where ${kind}_terms match ?) and ${sql}`,
      [terms.map((term) => `"${term}"`).join(" OR "), ...values],
    );
    return rows.map(candidateOf);
  }

  async nearest(kind: PassageKind, vector: Float32Array, { filter, count }: { filter: Filter; count: number }) {
    const { sql, values } = whereOf(filter);
    const ids = this.#driver.all(`select id from document where ${sql}`, values).map(({ id }) => Number(id));
    return this.#vectors[kind].nearest(vector, ids, count) satisfies Near[];
  }

  async similarities(kind: PassageKind, vector: Float32Array, ids: readonly number[]) {
    return this.#vectors[kind].similarities(vector, ids);
  }

  async embedder(): Promise<string | undefined> {
    return this.#embedder();
  }

  #embedder(): string | undefined {
    const row = this.#driver.get("select value from meta where key = 'embedder'");
    return row && String(row["value"]);
  }

  async clearVectors(embedder: string): Promise<void> {
    this.#driver.transaction(() => {
      for (const kind of KINDS) this.#driver.run(`update ${kind} set vector = null`);
      this.#setEmbedder(embedder);
      this.#driver.run("update document set revision = ?", [this.#bump()]);
    });
  }

  async setVectors(kind: PassageKind, sourceId: string, vectors: ReadonlyMap<number, Float32Array>): Promise<void> {
    this.#driver.transaction(() => {
      for (const [id, vector] of vectors)
        this.#driver.run(`update ${kind} set vector = ? where id = ?`, [bytesOf(vector), id]);
      // What other processes hold of this document's vectors is old.
      this.#driver.run("update document set revision = ? where source_id = ?", [this.#bump(), sourceId]);
    });
  }

  async whole(sourceId: string): Promise<WholeDocument | undefined> {
    return this.#driver.atOnce(() => this.#whole(sourceId));
  }

  #whole(sourceId: string): WholeDocument | undefined {
    const row = this.#driver.get("select fields, text, created from document where source_id = ?", [sourceId]);
    if (!row) return undefined;
    const [chunks = [], summaries = []] = KINDS.map((kind) =>
      this.#driver
        .all(
          `select passage.* from ${kind} as passage join document on document.id = document_id
           where source_id = ? order by ordinal`,
          [sourceId],
        )
        .map((passage) => passageFieldsOf(passage, ({ vector }) => (vector === null ? undefined : numbersOf(vector)))),
    );
    const embedder = this.#embedder();
    return {
      document: JSON.parse(String(row["fields"])) as DocumentFields,
      text: String(row["text"]),
      passages: { chunks, summaries, created: String(row["created"]), ...(embedder !== undefined && { embedder }) },
    };
  }

  async check(): Promise<Finding[]> {
    return checkSqlite(this.#driver);
  }

  async repair(): Promise<void> {
    repairSqlite(this.#driver);
  }

  async backup(file: string): Promise<void> {
    await copySqlite(this.#driver, file);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#driver.close();
  }

  #bump(): number {
    this.#driver.run("update meta set value = cast(value as integer) + 1 where key = 'revision'");
    return revisionOf(this.#driver);
  }

  #setEmbedder(embedder: string): void {
    this.#driver.run("insert or replace into meta values ('embedder', ?)", [embedder]);
  }

  #idOf(sourceId: string): number | undefined {
    const row = this.#driver.get("select id from document where source_id = ?", [sourceId]);
    return row && Number(row["id"]);
  }

  #documentWhere(condition: string, value: string): StoredDocument | undefined {
    const row = this.#driver.get(`select ${DOCUMENT} from document where ${condition} order by id`, [value]);
    return row && documentOf(row);
  }

  #remove(sourceId: string): Deleted | undefined {
    const id = this.#idOf(sourceId);
    if (id === undefined) return undefined;
    const [chunks, summaries] = KINDS.map((kind) => {
      const own = sizeOf(this.#driver, kind, id);
      resize(this.#driver, kind, { passages: -own.passages, length: -own.length });
      // The index keeps no text: what goes out of it must be said in its own words, before the row goes.
      this.#driver.run(
        `insert into ${kind}_terms(${kind}_terms, rowid, terms)
         select 'delete', id, terms from ${kind} where document_id = ?`,
        [id],
      );
      return this.#driver.run(`delete from ${kind} where document_id = ?`, [id]);
    });
    this.#driver.run("delete from document where id = ?", [id]);
    return { chunks: chunks!, summaries: summaries! };
  }

  #insert(kind: PassageKind, documentId: number, passage: PassageFields): void {
    const { ordinal, level, section, from, to, pages, text, terms, length, concepts = [], vector } = passage;
    this.#driver.run(
      `insert into ${kind}(document_id, ordinal, level, section, section_path, char_from, char_to, page_from, page_to,
         text, terms, length, concepts, vector) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      [
        documentId,
        ordinal,
        level,
        JSON.stringify(section),
        section.join(SECTION_SEPARATOR),
        from,
        to,
        pages?.[0] ?? null,
        pages?.[1] ?? null,
        text,
        terms,
        length,
        JSON.stringify(concepts),
        vector ? bytesOf(vector) : null,
      ],
    );
    this.#driver.run(`insert into ${kind}_terms(rowid, terms) values (last_insert_rowid(), ?)`, [terms]);
  }
}

function whereOf({ author, work, language }: Filter): { readonly sql: string; readonly values: Value[] } {
  const words = author === undefined ? [] : authorKey(author).split(" ").filter(Boolean);
  const conditions = [
    ...words.map(() => "instr(' ' || author_key || ' ', ?) > 0"),
    ...(work === undefined ? [] : ["work_key = ?"]),
    ...(language === undefined ? [] : ["language = ?"]),
  ];
  const values = [
    ...words.map((word) => ` ${word} `),
    ...(work === undefined ? [] : [plainWords(work)]),
    ...(language === undefined ? [] : [language]),
  ];
  // A name without letters is nobody's.
  if (author !== undefined && words.length === 0) conditions.push("0");
  return { sql: conditions.length > 0 ? conditions.join(" and ") : "1", values };
}
