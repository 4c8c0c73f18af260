import type { SqliteDriver } from "./sqlite-driver.ts";
import { revisionOf } from "./sqlite-schema.ts";
import { byPlace } from "../search/order.ts";
import type { Near, PassageKind } from "./store.ts";
import { dot } from "./vectors.ts";

/** The vectors of one document, one after the other. */
interface Rows {
  readonly revision: number;
  readonly sourceId: string;
  readonly ids: readonly number[];
  readonly ordinals: readonly number[];
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
      for (let at = 0; at < rows.ids.length; at += 1) {
        const similarity = nearness(vector, rows.numbers, at * vector.length);
        if (similarity < least) continue;
        found.push({ id: rows.ids[at]!, sourceId: rows.sourceId, ordinal: rows.ordinals[at]!, similarity });
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
    return new Map(rows.map((row) => [Number(row["id"]), dot(vector, numbersOf(row["vector"]))]));
  }

  #refresh(): void {
    const revision = revisionOf(this.#driver);
    if (revision === this.#revision) return;
    const present = new Map(
      this.#driver
        .all("select id, source_id, revision from document")
        .map((row) => [Number(row["id"]), { sourceId: String(row["source_id"]), revision: Number(row["revision"]) }]),
    );
    for (const [id, { revision: known }] of this.#documents)
      if (present.get(id)?.revision !== known) this.#documents.delete(id);
    for (const [id, own] of present) if (!this.#documents.has(id)) this.#documents.set(id, this.#read(id, own));
    this.#revision = revision;
  }

  #read(document: number, own: { readonly sourceId: string; readonly revision: number }): Rows {
    const rows = this.#driver.all(
      `select id, ordinal, vector from ${this.#kind} where document_id = ? and vector is not null order by ordinal`,
      [document],
    );
    const parts = rows.map((row) => numbersOf(row["vector"]));
    const numbers = new Float32Array(parts.reduce((sum, part) => sum + part.length, 0));
    let at = 0;
    for (const part of parts) {
      numbers.set(part, at);
      at += part.length;
    }
    return {
      ...own,
      ids: rows.map(({ id }) => Number(id)),
      ordinals: rows.map(({ ordinal }) => Number(ordinal)),
      numbers,
    };
  }
}

/** The cosine, reckoned in four lanes: as near as it gets, and twice as quick as in one. */
function nearness(vector: Float32Array, numbers: Float32Array, start: number): number {
  let [a, b, c, d] = [0, 0, 0, 0];
  const end = vector.length - (vector.length % 4);
  for (let at = 0; at < end; at += 4) {
    a += vector[at]! * numbers[start + at]!;
    b += vector[at + 1]! * numbers[start + at + 1]!;
    c += vector[at + 2]! * numbers[start + at + 2]!;
    d += vector[at + 3]! * numbers[start + at + 3]!;
  }
  for (let at = end; at < vector.length; at += 1) a += vector[at]! * numbers[start + at]!;
  return a + b + c + d;
}

/** Sorts by nearness, cuts, and says how near the last one is. */
function keepBest(found: Near[], count: number): number {
  found.sort((one, other) => other.similarity - one.similarity || byPlace(one, other));
  if (found.length < count) return -Infinity;
  found.length = count;
  return found.at(-1)!.similarity;
}

/** The engines give bytes as views of buffers that they use again, at places where no number may begin. */
export function numbersOf(value: unknown): Float32Array {
  const bytes = value instanceof ArrayBuffer ? new Uint8Array(value) : (value as Uint8Array);
  return new Float32Array(bytes.slice().buffer);
}

export function bytesOf(vector: Float32Array): Uint8Array {
  return new Uint8Array(vector.buffer, vector.byteOffset, vector.byteLength);
}
