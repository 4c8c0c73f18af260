import type { SqliteDriver } from "./sqlite-driver.ts";
import { revisionOf } from "./sqlite-schema.ts";
import type { Near, PassageKind } from "./store.ts";

/** The vectors of one document, one after the other. */
interface Rows {
  readonly revision: number;
  readonly ids: readonly number[];
  readonly numbers: Float32Array;
}

/**
 * The vectors of a file, read when they are first asked for. What another process changed since is read anew, each
 * document for itself.
 */
export class VectorTable {
  readonly #driver: SqliteDriver;
  readonly #kind: PassageKind;
  readonly #documents = new Map<number, Rows>();
  #revision = -1;

  constructor(driver: SqliteDriver, kind: PassageKind) {
    this.#driver = driver;
    this.#kind = kind;
  }

  nearest(vector: Float32Array, documents: readonly number[], count: number): Near[] {
    this.#refresh();
    const found: Near[] = [];
    let least = -Infinity;
    for (const document of documents) {
      const rows = this.#documents.get(document);
      if (!rows) continue;
      for (const [at, id] of rows.ids.entries()) {
        const similarity = dot(vector, rows.numbers, at * vector.length);
        if (similarity < least) continue;
        found.push({ id, similarity });
        if (found.length >= count * 2) least = keepBest(found, count);
      }
    }
    keepBest(found, count);
    return found;
  }

  similarities(vector: Float32Array, ids: readonly number[]): ReadonlyMap<number, number> {
    const rows = this.#driver.all(
      `select id, vector from ${this.#kind} where vector is not null and id in (select value from json_each(?))`,
      [JSON.stringify(ids)],
    );
    return new Map(rows.map((row) => [Number(row["id"]), dot(vector, numbersOf(row["vector"]), 0)]));
  }

  #refresh(): void {
    const revision = revisionOf(this.#driver);
    if (revision === this.#revision) return;
    const present = new Map(
      this.#driver
        .all("select id, revision from document")
        .map((row) => [Number(row["id"]), Number(row["revision"])] as const),
    );
    for (const [id, { revision: known }] of this.#documents) if (present.get(id) !== known) this.#documents.delete(id);
    for (const [id, known] of present) if (!this.#documents.has(id)) this.#documents.set(id, this.#read(id, known));
    this.#revision = revision;
  }

  #read(document: number, revision: number): Rows {
    const rows = this.#driver.all(
      `select id, vector from ${this.#kind} where document_id = ? and vector is not null order by ordinal`,
      [document],
    );
    const parts = rows.map((row) => numbersOf(row["vector"]));
    const numbers = new Float32Array(parts.reduce((sum, part) => sum + part.length, 0));
    let at = 0;
    for (const part of parts) {
      numbers.set(part, at);
      at += part.length;
    }
    return { revision, ids: rows.map(({ id }) => Number(id)), numbers };
  }
}

/** Sorts by nearness, cuts, and says how near the last one is. */
function keepBest(found: Near[], count: number): number {
  found.sort((one, other) => other.similarity - one.similarity || one.id - other.id);
  if (found.length < count) return -Infinity;
  found.length = count;
  return found.at(-1)!.similarity;
}

function dot(vector: Float32Array, numbers: Float32Array, start: number): number {
  let sum = 0;
  for (let at = 0; at < vector.length; at += 1) sum += vector[at]! * numbers[start + at]!;
  return sum;
}

/** The engines give bytes as views of buffers that they use again, at places where no number may begin. */
function numbersOf(value: unknown): Float32Array {
  const bytes = value instanceof ArrayBuffer ? new Uint8Array(value) : (value as Uint8Array);
  return new Float32Array(bytes.slice().buffer);
}
