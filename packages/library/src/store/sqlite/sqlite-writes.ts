import type { TextPlace, TextPlacesRequest } from "../../search/text-places.ts";
import { authorKey, plainWords } from "../../search/names.ts";
import { clearDigests, removeDigests, renewDigests, writeDigests } from "./sqlite-digest.ts";
import { checkSqlite, copySqlite, repairSqlite } from "./sqlite-care.ts";
import type { SqliteDriver } from "./sqlite-driver.ts";
import { mismatch } from "../store-failure.ts";
import { revisionOf } from "./sqlite-schema.ts";
import { findTextPlaces, removePlainText, writePlainText } from "./sqlite-texts.ts";
import { resize, sizeOf } from "./sqlite-size.ts";
import { bytesOf } from "./sqlite-values.ts";
import {
  SECTION_SEPARATOR,
  type DeleteResult,
  type DocumentFields,
  type StoreFinding,
  type PassageFields,
  type PassageKind,
  type Passages,
  type VectorsOf,
} from "../store.ts";

const KINDS = ["chunk", "summary"] as const;

/**
 * Write operations, each in one transaction, and operations that read the whole file. Large operations block the thread
 * for seconds.
 */
export class SqliteWrites {
  readonly #driver: SqliteDriver;

  constructor(driver: SqliteDriver) {
    this.#driver = driver;
  }

  replaceDocument(document: DocumentFields, text: string, passages: Passages): void {
    this.#driver.transaction(() => {
      if (passages.embedder !== undefined) this.#expectEmbedder(passages.embedder);
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
      for (const chunk of passages.chunks) this.#insert("chunk", id, chunk);
      for (const summary of passages.summaries) this.#insert("summary", id, summary);
      for (const kind of KINDS) resize(this.#driver, kind, sizeOf(this.#driver, kind, id));
      writeDigests(this.#driver, id);
      writePlainText(this.#driver, id, text);
    });
  }

  deleteDocument(sourceId: string): DeleteResult | undefined {
    return this.#driver.transaction(() => {
      const deleted = this.#remove(sourceId);
      if (deleted) this.#bump();
      return deleted;
    });
  }

  clearVectors(embedder: string): void {
    this.#driver.transaction(() => {
      for (const kind of KINDS) this.#driver.run(`update ${kind} set vector = null`);
      this.#setEmbedder(embedder);
      const revision = this.#bump();
      this.#driver.run("update document set revision = ?", [revision]);
      clearDigests(this.#driver, revision);
    });
  }

  setVectors(kind: PassageKind, { sourceId, embedder }: VectorsOf, vectors: ReadonlyMap<number, Float32Array>): void {
    this.#driver.transaction(() => {
      this.#expectEmbedder(embedder);
      for (const [id, vector] of vectors)
        this.#driver.run(`update ${kind} set vector = ? where id = ?`, [bytesOf(vector), id]);
      // Invalidates this document's vectors in the caches of other processes.
      this.#driver.run("update document set revision = ? where source_id = ?", [this.#bump(), sourceId]);
      const document = this.#idOf(sourceId);
      if (document !== undefined) renewDigests(this.#driver, document);
    });
  }

  /** Finds a quotation in all texts. Call it in a separate thread. */
  textPlaces(request: TextPlacesRequest): TextPlace[] {
    return this.#driver.atOnce(() => findTextPlaces(this.#driver, request));
  }

  check(): StoreFinding[] {
    return checkSqlite(this.#driver);
  }

  repair(): void {
    this.#driver.transaction(() => {
      repairSqlite(this.#driver);
      // The new revision makes other processes read the file again.
      this.#bump();
    });
  }

  backup(file: string): Promise<void> {
    return copySqlite(this.#driver, file);
  }

  #bump(): number {
    this.#driver.run("update meta set value = cast(value as integer) + 1 where key = 'revision'");
    return revisionOf(this.#driver);
  }

  /** Checks the embedder of the library; the first vectors determine it. */
  #expectEmbedder(embedder: string): void {
    const found = this.#driver.get("select value from meta where key = 'embedder'")?.["value"];
    if (found === undefined) this.#setEmbedder(embedder);
    else if (found !== embedder) throw this.#driver.fail("mismatch", mismatch(String(found), embedder));
  }

  #setEmbedder(embedder: string): void {
    this.#driver.run("insert or replace into meta values ('embedder', ?)", [embedder]);
  }

  #idOf(sourceId: string): number | undefined {
    const row = this.#driver.get("select id from document where source_id = ?", [sourceId]);
    return row && Number(row["id"]);
  }

  #remove(sourceId: string): DeleteResult | undefined {
    const id = this.#idOf(sourceId);
    if (id === undefined) return undefined;
    removeDigests(this.#driver, id);
    removePlainText(this.#driver, id);
    const [chunks, summaries] = KINDS.map((kind) => {
      const own = sizeOf(this.#driver, kind, id);
      resize(this.#driver, kind, { passages: -own.passages, length: -own.length });
      // The index stores no text, so the terms must be given before the row is deleted.
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
