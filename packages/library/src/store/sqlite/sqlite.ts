import type { Candidate, TermStats, WantedTerms } from "../../search/bm25.ts";
import type { TextPlace, TextPlacesRequest } from "../../search/text-places.ts";
import { authorFilter, plainWords } from "../../search/names.ts";
import { DocumentRanges } from "../document-ranges.ts";
import { Frequencies } from "../frequencies.ts";
import { candidateOf, documentOf, passageFieldsOf, passageOf } from "../rows.ts";
import { openSqlite } from "./open-sqlite.ts";
import type { SqliteDriver, Value } from "./sqlite-driver.ts";
import { holdersOf, idsOf, repeatersOf } from "./sqlite-places.ts";
import { prepareTables } from "./sqlite-schema.ts";
import { sizeOf } from "./sqlite-size.ts";
import { numbersOf } from "./sqlite-values.ts";
import { writerHere, type SqliteWriter } from "./sqlite-writer.ts";
import { SqliteWrites } from "./sqlite-writes.ts";
import type {
  DeleteResult,
  DocumentFields,
  Filter,
  StoreFinding,
  LibraryStore,
  PassageKind,
  PassageRange,
  Passages,
  Places,
  PlacesSearch,
  StoredDocument,
  StoredPassage,
  VectorsOf,
  WholeDocument,
  Window,
} from "../store.ts";
import { VectorTable } from "../vectors/vector-table.ts";
import { WriterThread } from "../writing/writer-thread.ts";

const KINDS = ["chunk", "summary"] as const;
const DOCUMENT = `id, source_id, fields, created, updated,
  (select count(*) from chunk where document_id = document.id) as chunks,
  (select count(*) from summary where document_id = document.id) as summaries`;
const PASSAGE = `passage.id, source_id, ordinal, level, section, char_from, char_to, page_from, page_to,
  passage.text, concepts`;

/** Opens the library in a file, and creates it if it does not exist. `:memory:` opens a library in memory. */
export async function openSqliteStore(path: string, engine?: "libsql"): Promise<LibraryStore> {
  const driver = await openSqlite(path, engine);
  const { identity } = driver;
  if (path === ":memory:") return createSqliteStore(driver, path);
  const threads = {
    writer: new WriterThread({ path, engine, identity }),
    texts: new WriterThread({ path, engine, identity }),
  };
  return createSqliteStore(driver, path, threads);
}

/**
 * Threads that work on the file. They are separate, so that a search through all texts does not wait for a document
 * that is written.
 */
export interface SqliteThreads {
  readonly writer: SqliteWriter;
  /** Thread that searches the texts; it does not write. */
  readonly texts: SqliteWriter;
}

/**
 * Creates a library that uses a connection and closes it.
 * @param threads @default everything on the same connection
 */
export function createSqliteStore(driver: SqliteDriver, path: string, threads?: SqliteThreads): LibraryStore {
  try {
    prepareTables(driver, path);
    const own = writerHere(new SqliteWrites(driver));
    return new SqliteStore(driver, path, threads ?? { writer: own, texts: own });
  } catch (error) {
    driver.close();
    throw error;
  }
}

class SqliteStore implements LibraryStore {
  readonly #driver: SqliteDriver;
  readonly #path: string;
  readonly #writer: SqliteWriter;
  readonly #texts: SqliteWriter;
  readonly #vectors: Readonly<Record<PassageKind, VectorTable>>;
  readonly #frequencies: Readonly<Record<PassageKind, Frequencies>>;
  readonly #ranges: Readonly<Record<PassageKind, DocumentRanges>>;

  constructor(driver: SqliteDriver, path: string, { writer, texts }: SqliteThreads) {
    this.#driver = driver;
    this.#path = path;
    this.#writer = writer;
    this.#texts = texts;
    this.#vectors = { chunk: new VectorTable(driver, "chunk"), summary: new VectorTable(driver, "summary") };
    this.#frequencies = { chunk: new Frequencies(driver, "chunk"), summary: new Frequencies(driver, "summary") };
    this.#ranges = { chunk: new DocumentRanges(driver, "chunk"), summary: new DocumentRanges(driver, "summary") };
  }

  async describe() {
    const version = this.#driver.get("select sqlite_version() as version")!["version"];
    return { engine: `SQLite ${String(version)} (${this.#driver.engine})`, place: this.#path };
  }

  replaceDocument(document: DocumentFields, text: string, passages: Passages): Promise<void> {
    return this.#writer.replaceDocument(document, text, passages);
  }

  deleteDocument(sourceId: string): Promise<DeleteResult | undefined> {
    return this.#writer.deleteDocument(sourceId);
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

  textPlaces(request: TextPlacesRequest): Promise<TextPlace[]> {
    return this.#texts.textPlaces(request);
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
    return this.#driver.atOnce(() => {
      const { passages, length } = sizeOf(this.#driver, kind);
      const averageLength = passages === 0 ? 0 : length / passages;
      return { passages, averageLength, frequencies: this.#frequencies[kind].of(terms) };
    });
  }

  async candidates(kind: PassageKind, wanted: WantedTerms, filter: Filter): Promise<Candidate[]> {
    if (wanted.any.length === 0) return [];
    return this.#driver.atOnce(() => this.#candidatesAt(kind, this.#idsOf(kind, wanted, filter)));
  }

  async candidatesAt(kind: PassageKind, ids: readonly number[]): Promise<Candidate[]> {
    return this.#candidatesAt(kind, ids);
  }

  #candidatesAt(kind: PassageKind, ids: readonly number[]): Candidate[] {
    return this.#driver
      .all(
        `select passage.id, source_id, ordinal, terms, length
         from json_each(?) as own cross join ${kind} as passage on passage.id = own.value
         join document on document.id = document_id`,
        [JSON.stringify(ids)],
      )
      .map(candidateOf);
  }

  async places(kind: PassageKind, wanted: WantedTerms, { terms, filter, few }: PlacesSearch) {
    return this.#driver.atOnce((): Places | undefined => {
      const ids = this.#idsOf(kind, wanted, filter);
      const lengths = this.#ranges[kind].lengthsOf(ids);
      if (!lengths || ids.length <= few) return undefined;
      const known = terms.map((term) => {
        const holders = holdersOf(this.#driver, kind, { any: wanted.any, term });
        return [term, [holders, ...repeatersOf(this.#driver, kind, term)]] as const;
      });
      return { ids, lengths, terms: new Map(known) };
    });
  }

  /**
   * Returns the matching passages of documents that match the filter. It filters before passages are read, because most
   * of those found by words are excluded.
   */
  #idsOf(kind: PassageKind, wanted: WantedTerms, filter: Filter): number[] {
    const found = idsOf(this.#driver, kind, wanted);
    const documents = this.#documentIds(filter);
    return documents ? this.#ranges[kind].within(found, documents) : found;
  }

  async nearest(kind: PassageKind, vector: Float32Array, { filter, count }: { filter: Filter; count: number }) {
    return this.#driver.atOnce(() => this.#vectors[kind].nearest(vector, this.#documentIds(filter), count));
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

  clearVectors(embedder: string): Promise<void> {
    return this.#writer.clearVectors(embedder);
  }

  setVectors(kind: PassageKind, of: VectorsOf, vectors: ReadonlyMap<number, Float32Array>): Promise<void> {
    return this.#writer.setVectors(kind, of, vectors);
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

  check(): Promise<StoreFinding[]> {
    return this.#writer.check();
  }

  repair(): Promise<void> {
    return this.#writer.repair();
  }

  backup(file: string): Promise<void> {
    return this.#writer.backup(file);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#writer[Symbol.asyncDispose]();
    await this.#texts[Symbol.asyncDispose]();
    this.#driver.close();
  }

  /** Returns undefined if the filter matches all documents. */
  #documentIds(filter: Filter): number[] | undefined {
    const { sql, values } = whereOf(filter);
    if (sql === ALL) return undefined;
    return this.#driver.all(`select id from document where ${sql}`, values).map(({ id }) => Number(id));
  }

  #documentWhere(condition: string, value: string): StoredDocument | undefined {
    const row = this.#driver.get(`select ${DOCUMENT} from document where ${condition} order by id`, [value]);
    return row && documentOf(row);
  }
}

/** SQL condition that matches all documents. */
const ALL = "1";

function whereOf({ author, work, language }: Filter): { readonly sql: string; readonly values: Value[] } {
  const words = author === undefined ? [] : authorFilter(author);
  const conditions: string[] = [];
  const values: Value[] = [];
  const add = (condition: string, ...own: readonly Value[]): void => {
    conditions.push(condition);
    values.push(...own);
  };
  for (const { word, isInitial } of words ?? []) {
    if (isInitial) add("instr(' ' || author_key, ?) > 0", ` ${word}`);
    else
      add(
        "(instr(' ' || author_key || ' ', ?) > 0 or instr(' ' || author_key || ' ', ?) > 0)",
        ` ${word} `,
        ` ${Array.from(word)[0]!} `,
      );
  }
  if (work !== undefined) add("instr(' ' || work_key || ' ', ?) > 0", ` ${plainWords(work)} `);
  if (language !== undefined) add("language = ?", language);
  // An author filter without letters matches no author.
  if (!words) conditions.push("0");
  return { sql: conditions.length > 0 ? conditions.join(" and ") : ALL, values };
}
