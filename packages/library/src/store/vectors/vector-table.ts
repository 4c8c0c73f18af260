import { byPlace } from "../../search/order.ts";
import { vectorsOf } from "../sqlite/sqlite-digest.ts";
import type { SqliteDriver } from "../sqlite/sqlite-driver.ts";
import { revisionOf } from "../sqlite/sqlite-schema.ts";
import type { Near, PassageKind } from "../store.ts";
import { sizeOf } from "../sqlite/sqlite-size.ts";
import { numbersOf } from "../sqlite/sqlite-values.ts";
import { roundRows, VectorRows, type QuantizedVector, type RoundedRows, type RowRange } from "./vector-rows.ts";
import { dot } from "./vectors.ts";

/** Range of one document's vectors in the table. */
interface Segment {
  readonly revision: number;
  readonly from: number;
  readonly count: number;
}

/** Number of candidate rows per requested row before the list is pruned. */
const KEPT_EACH = 16;

/**
 * The rounded vectors of a file, loaded at the first query. A document that another process changed is loaded again.
 * The candidates by rounded vectors are compared by the original vectors in the file, so rounding changes no result.
 */
export class VectorTable {
  readonly #driver: SqliteDriver;
  readonly #kind: PassageKind;
  #documents = new Map<number, Segment>();
  #rows: VectorRows | undefined;
  #revision = -1;

  constructor(driver: SqliteDriver, kind: PassageKind) {
    this.#driver = driver;
    this.#kind = kind;
  }

  /** Returns the nearest passages of these documents, or of all documents. */
  nearest(vector: Float32Array, documents: readonly number[] | undefined, count: number): Near[] {
    this.#refresh();
    const rows = this.#rows;
    if (!rows || rows.dimensions !== vector.length) return [];
    const segments = documents?.flatMap((id) => this.#documents.get(id) ?? []) ?? [{ from: 0, count: rows.count }];
    const near = new Nearest(rows, rows.query(vector), count);
    for (const { from, count: own } of segments) near.look({ from, to: from + own });
    return this.#exact(vector, near.idsFor(vector)).slice(0, count);
  }

  similarities(vector: Float32Array, ids: readonly number[]): ReadonlyMap<number, number> {
    const rows = this.#driver.all(
      `select id, vector from ${this.#kind} where vector is not null and id in (select value from json_each(?))`,
      [JSON.stringify(ids)],
    );
    return new Map(rows.map((row) => [Number(row["id"]), dot(vector, numbersOf(row["vector"]))]));
  }

  #exact(vector: Float32Array, ids: readonly number[]): Near[] {
    return this.#driver
      .all(
        `select passage.id, source_id, ordinal, vector from ${this.#kind} as passage
         join document on document.id = document_id where passage.id in (select value from json_each(?))`,
        [JSON.stringify(ids)],
      )
      .map((row) => ({
        id: Number(row["id"]),
        sourceId: String(row["source_id"]),
        ordinal: Number(row["ordinal"]),
        similarity: dot(vector, numbersOf(row["vector"])),
      }))
      .toSorted((one, other) => other.similarity - one.similarity || byPlace(one, other));
  }

  #refresh(): void {
    const revision = revisionOf(this.#driver);
    if (revision === this.#revision) return;
    const present = new Map(
      this.#driver.all("select id, revision from document").map((row) => [Number(row["id"]), Number(row["revision"])]),
    );
    this.#drop((id, segment) => present.get(id) !== segment.revision);
    for (const [id, own] of present) if (!this.#documents.has(id)) this.#read(id, own);
    this.#revision = revision;
  }

  /** Removes the documents that are outdated. The rows after them move up. */
  #drop(isOld: (id: number, segment: Segment) => boolean): void {
    const all = Array.from(this.#documents);
    const kept = all.filter(([id, segment]) => !isOld(id, segment));
    if (kept.length === all.length) return;
    this.#rows?.keep(kept.map(([, segment]) => segment));
    let from = 0;
    this.#documents = new Map(
      kept.map(([id, { revision, count }]) => {
        const segment = { revision, from, count };
        from += count;
        return [id, segment];
      }),
    );
  }

  #read(document: number, revision: number): void {
    const given = vectorsOf(this.#driver, this.#kind, [document, revision]) ?? this.#unrounded(document);
    const from = this.#rows?.count ?? 0;
    if (given !== "none") this.#add(given);
    this.#documents.set(document, { revision, from, count: (this.#rows?.count ?? 0) - from });
  }

  /** Returns the vectors of a document without a digest, written by an earlier version. */
  #unrounded(document: number): RoundedRows | "none" {
    const rows = this.#driver.all(
      `select id, vector from ${this.#kind} where document_id = ? and vector is not null order by ordinal`,
      [document],
    );
    return roundRows(new Map(rows.map(({ id, vector }) => [Number(id), numbersOf(vector)]))) ?? "none";
  }

  #add(given: RoundedRows): void {
    const { dimensions } = given;
    if (!this.#rows || (this.#rows.count === 0 && this.#rows.dimensions !== dimensions))
      this.#rows = new VectorRows(dimensions, sizeOf(this.#driver, this.#kind).passages);
    // Vectors of another length are from an embedder that is being replaced.
    if (this.#rows.dimensions === dimensions) this.#rows.add(given);
  }
}

/** Collects the rows that may be among the nearest. */
class Nearest {
  readonly #all: VectorRows;
  readonly #query: QuantizedVector;
  readonly #count: number;
  /** Maximum error of a difference between two approximate cosines. */
  readonly #margin: number;
  #rows: number[] = [];
  #cosines: number[] = [];
  #least = -Infinity;
  #room: number;

  constructor(all: VectorRows, query: QuantizedVector, count: number) {
    this.#all = all;
    this.#query = query;
    this.#count = count;
    this.#margin = 2 * all.errorOf(query);
    this.#room = count * KEPT_EACH;
  }

  look(range: RowRange): void {
    this.#all.cosines(this.#query, range, (cosines, start) => {
      for (let at = 0; at < cosines.length; at += 1) {
        const cosine = cosines[at]!;
        if (cosine < this.#least) continue;
        this.#rows.push(start + at);
        this.#cosines.push(cosine);
        if (this.#rows.length >= this.#room) this.#sortOut();
      }
    });
  }

  idsFor(vector: Float32Array): number[] {
    this.#sortOut();
    const cosines = Float64Array.from(this.#rows, (row) => this.#all.fineCosine(vector, row));
    const least = (cosines.toSorted()[cosines.length - this.#count] ?? -Infinity) - 2 * this.#all.fineError;
    return this.#rows.filter((_, at) => cosines[at]! >= least).map((row) => this.#all.idAt(row));
  }

  #sortOut(): void {
    if (this.#rows.length <= this.#count) return;
    const sorted = Float64Array.from(this.#cosines).toSorted();
    this.#least = sorted[sorted.length - this.#count]! - this.#margin;
    const kept = this.#rows.map((row, at) => [row, this.#cosines[at]!] as const);
    const near = kept.filter(([, cosine]) => cosine >= this.#least);
    this.#rows = near.map(([row]) => row);
    this.#cosines = near.map(([, cosine]) => cosine);
    this.#room = Math.max(this.#count * KEPT_EACH, 2 * near.length);
  }
}
