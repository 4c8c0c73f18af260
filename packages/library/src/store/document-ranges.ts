import { lengthsOf } from "./sqlite/sqlite-digest.ts";
import type { SqliteDriver } from "./sqlite/sqlite-driver.ts";
import { revisionOf } from "./sqlite/sqlite-schema.ts";
import type { PassageKind } from "./store.ts";

/** Range of a document's passages: they are numbered in one transaction, so their numbers are consecutive. */
interface Range {
  readonly document: number;
  readonly revision: number;
  readonly first: number;
  /** Number of terms of each passage. Undefined for a document written by an earlier version. */
  readonly lengths: Uint32Array | undefined;
}

/** Maps passage numbers to documents, and returns their lengths, without reading passages. */
export class DocumentRanges {
  readonly #driver: SqliteDriver;
  readonly #kind: PassageKind;
  #revision = -1;
  #byDocument = new Map<number, Range>();
  /** Ranges, sorted by their first passage. */
  #ranges: readonly Range[] = [];
  #firsts = new Float64Array();

  constructor(driver: SqliteDriver, kind: PassageKind) {
    this.#driver = driver;
    this.#kind = kind;
  }

  /** Returns the passages that belong to one of the documents. */
  within(ids: readonly number[], documents: readonly number[]): number[] {
    this.#refresh();
    const wanted = new Set(documents);
    return ids.filter((id) => wanted.has(this.#rangeOf(id)?.document ?? -1));
  }

  /** Returns the number of terms of each passage; undefined if one count is unknown. */
  lengthsOf(ids: readonly number[]): Float64Array | undefined {
    this.#refresh();
    const lengths = new Float64Array(ids.length);
    for (const [at, id] of ids.entries()) {
      const range = this.#rangeOf(id);
      const length = range?.lengths?.[id - range.first];
      if (length === undefined) return undefined;
      lengths[at] = length;
    }
    return lengths;
  }

  #rangeOf(id: number): Range | undefined {
    let [low, high] = [0, this.#firsts.length];
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (this.#firsts[middle]! <= id) low = middle;
      else high = middle;
    }
    return this.#ranges[low];
  }

  #refresh(): void {
    const revision = revisionOf(this.#driver);
    if (revision === this.#revision) return;
    const before = this.#byDocument;
    this.#byDocument = new Map();
    for (const row of this.#driver.all("select id, revision from document")) {
      const [document, own] = [Number(row["id"]), Number(row["revision"])];
      const known = before.get(document);
      const range = known?.revision === own && known.lengths ? known : this.#read(document, own);
      if (range) this.#byDocument.set(document, range);
    }
    this.#ranges = Array.from(this.#byDocument.values()).toSorted((one, other) => one.first - other.first);
    this.#firsts = Float64Array.from(this.#ranges, ({ first }) => first);
    this.#revision = revision;
  }

  /** Returns the range of a document; undefined if it has no passages. */
  #read(document: number, revision: number): Range | undefined {
    const digest = lengthsOf(this.#driver, this.#kind, [document, revision]);
    if (digest) return digest.lengths.length > 0 ? { document, revision, ...digest } : undefined;
    const row = this.#driver.get(`select min(id) as first from ${this.#kind} where document_id = ?`, [document]);
    const first = row?.["first"] ?? null;
    return first === null ? undefined : { document, revision, first: Number(first), lengths: undefined };
  }
}
