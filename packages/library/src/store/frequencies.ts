import type { SqliteDriver } from "./sqlite/sqlite-driver.ts";
import { revisionOf } from "./sqlite/sqlite-schema.ts";
import type { PassageKind } from "./store.ts";

/** Maximum number of terms that are cached. */
const MAX_KEPT = 10_000;

/** Number of passages that contain each term. Counting is slow in the index, so results are cached until a change. */
export class Frequencies {
  readonly #driver: SqliteDriver;
  readonly #kind: PassageKind;
  #revision = -1;
  #known = new Map<string, number>();

  constructor(driver: SqliteDriver, kind: PassageKind) {
    this.#driver = driver;
    this.#kind = kind;
  }

  /** Returns the number of passages for each term that occurs in the library. */
  of(terms: readonly string[]): Map<string, number> {
    const revision = revisionOf(this.#driver);
    if (revision !== this.#revision || this.#known.size > MAX_KEPT) this.#known = new Map();
    this.#revision = revision;
    const missing = terms.filter((term) => !this.#known.has(term));
    if (missing.length > 0) this.#count(missing);
    return new Map(terms.map((term) => [term, this.#known.get(term)!] as const).filter(([, count]) => count > 0));
  }

  #count(terms: readonly string[]): void {
    for (const term of terms) this.#known.set(term, 0);
    const rows = this.#driver.all(
      `select term, doc from ${this.#kind}_vocabulary where term in (select value from json_each(?))`,
      [JSON.stringify(terms)],
    );
    for (const { term, doc } of rows) this.#known.set(String(term), Number(doc));
  }
}
