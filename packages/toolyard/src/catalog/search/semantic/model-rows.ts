import { ByteRows, QUERY_SCALE, toBytes, wantedNumbers } from "../likeness/byte-rows.ts";

/** Vectors of tools by a remote model, in rank order, as whole numbers: a byte per element is accurate enough. */
export class ModelRows {
  readonly #dimensions: number;
  readonly #rows: ByteRows;
  /** Inverse of each row's length. 0 for a zero vector. */
  readonly #scales: Float32Array;

  private constructor(count: number, dimensions: number) {
    this.#dimensions = dimensions;
    this.#rows = new ByteRows(count, dimensions);
    this.#scales = new Float32Array(count);
  }

  /**
   * Builds the rows in steps of one row each. Returns `undefined` if a vector is missing or has another length than the
   * others.
   */
  static *steps(vectors: readonly (Float32Array | undefined)[]): Generator<void, ModelRows | undefined> {
    const dimensions = vectors[0]?.length ?? 0;
    if (dimensions === 0 || vectors.some((vector) => vector?.length !== dimensions)) return undefined;
    const made = new ModelRows(vectors.length, dimensions);
    const bytes = new Int8Array(dimensions);
    for (const [rank, vector] of vectors.entries()) {
      made.#set(rank, vector!, bytes);
      yield;
    }
    return made;
  }

  #set(rank: number, vector: Float32Array, bytes: Int8Array): void {
    bytes.fill(0);
    toBytes(vector, bytes);
    this.#rows.set(rank, bytes);
    const length = this.#rows.lengthOf(rank);
    this.#scales[rank] = length === 0 ? 0 : 1 / length;
  }

  /**
   * Returns the cosines by rank. `vector` must have length 1. Returns `undefined` if it has another number of
   * dimensions.
   */
  cosinesTo(vector: Float32Array): Float32Array | undefined {
    if (vector.length !== this.#dimensions) return undefined;
    const wanted = wantedNumbers(vector);
    const cosines = new Float32Array(this.#scales.length);
    const products = this.#rows.productsWith(wanted, 0, cosines.length);
    for (let rank = 0; rank < cosines.length; rank += 1)
      cosines[rank] = (products[rank]! * this.#scales[rank]!) / QUERY_SCALE;
    return cosines;
  }
}
