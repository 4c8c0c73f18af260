import type { SqliteDriver } from "./sqlite-driver.ts";
import { revisionOf } from "./sqlite-schema.ts";
import type { PassageKind } from "./store.ts";

/**
 * Which numbers the passages of a document have. They are given in one transaction, so they follow one another, and
 * whose a passage is can be told without reading it.
 */
export class DocumentRanges {
  readonly #driver: SqliteDriver;
  readonly #kind: PassageKind;
  #revision = -1;
  #documents = new Float64Array();
  #firsts = new Float64Array();

  constructor(driver: SqliteDriver, kind: PassageKind) {
    this.#driver = driver;
    this.#kind = kind;
  }

  /** Those of the passages that are of one of the documents. */
  within(ids: readonly number[], documents: readonly number[]): number[] {
    this.#refresh();
    const wanted = new Set(documents);
    return ids.filter((id) => wanted.has(this.#documentOf(id)));
  }

  #documentOf(id: number): number {
    let [low, high] = [0, this.#firsts.length];
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (this.#firsts[middle]! <= id) low = middle;
      else high = middle;
    }
    return this.#documents[low] ?? -1;
  }

  #refresh(): void {
    const revision = revisionOf(this.#driver);
    if (revision === this.#revision) return;
    // The index of places has all that this asks for.
    const rows = this.#driver.all(
      `select document_id, min(id) as first from ${this.#kind} group by document_id order by first`,
    );
    this.#documents = Float64Array.from(rows, (row) => Number(row["document_id"]));
    this.#firsts = Float64Array.from(rows, ({ first }) => Number(first));
    this.#revision = revision;
  }
}
