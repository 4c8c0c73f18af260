import { ByteRows, QUERY_SCALE, wantedNumbers } from "./byte-rows.ts";
import { usualOf, type Likeness } from "./common-direction.ts";

/** Number of a vector's elements in the first comparison. The table stores the most informative elements first. */
const FIRST_LOOK = 32;
/** A row is compared in full if its first comparison is at least this many deviations above the mean. */
const FIRST_CUT = 1;
/** Number of rows from which the usual similarity to the query is estimated. */
const SAMPLE = 128;
/** Maximum number of tools for which all rows are compared in full. */
const FEW = 512;
/**
 * Prior mean and deviation of the similarity. They count as `rows` additional rows, because a few tools are not
 * representative.
 */
const PRIOR = { rows: 60, mean: 0.1, deviation: 0.12 };
/** Number of vectors of a tool: whole, name, description. */
const PARTS = 3;

/** Vectors of tools in the order of their ranks. */
export class VectorRows {
  readonly size: number;
  /** For each tool: the first elements of the vector of the whole tool. */
  readonly #first: ByteRows;
  /** For each tool, three vectors: of the whole tool, of its name, of its description. */
  readonly #rows: ByteRows;
  /** Inverse of each row's length. 0 for a zero vector. */
  readonly #scales: Float32Array;
  readonly #dimensions: number;

  constructor(size: number, dimensions: number) {
    this.size = size;
    this.#dimensions = dimensions;
    this.#first = new ByteRows(size, FIRST_LOOK);
    this.#rows = new ByteRows(size * PARTS, dimensions);
    this.#scales = new Float32Array(size * PARTS);
  }

  /** Sets the vectors of a tool: its three vectors, one after another. */
  set(rank: number, vectors: Int8Array): void {
    this.#first.set(rank, vectors.subarray(0, this.#dimensions));
    for (let part = 0; part < PARTS; part += 1) {
      const row = rank * PARTS + part;
      this.#rows.set(row, vectors.subarray(part * this.#dimensions, (part + 1) * this.#dimensions));
      const length = this.#rows.lengthOf(row);
      this.#scales[row] = length === 0 ? 0 : 1 / length;
    }
  }

  /** Returns the similarity of the tools to `query`, a vector of length 1. */
  likenessTo(query: Float32Array): Likeness {
    const wanted = wantedNumbers(query);
    const cosines = new Float32Array(this.size);
    if (this.size <= FEW) {
      const products = this.#rows.productsWith(wanted, 0, this.size * PARTS);
      for (let rank = 0; rank < this.size; rank += 1) cosines[rank] = this.#cosineBy(products, rank * PARTS, rank);
      return { cosines, ...usualOf(cosines, PRIOR) };
    }
    const { values, cut } = this.#firstLook(wanted);
    for (let rank = 0; rank < this.size; rank += 1)
      if (values[rank]! >= cut) cosines[rank] = this.#cosine(wanted, rank);
    return { cosines, ...usualOf(this.#sample(wanted), PRIOR) };
  }

  /** Returns the cosine of the vectors of two whole tools. */
  cosineOf(rank: number, other: number): number {
    const [row, beside] = [rank * PARTS, other * PARTS];
    return this.#rows.productOf(row, beside) * this.#scales[row]! * this.#scales[beside]!;
  }

  /** Returns the cosine by the elements of the first comparison. */
  firstOf(rank: number, other: number): number {
    return this.#first.productOf(rank, other) * this.#scales[rank * PARTS]! * this.#scales[other * PARTS]!;
  }

  /** Returns the length of the elements outside the first comparison, as a share of the length of the whole vector. */
  restOf(rank: number): number {
    const seen = this.#first.lengthOf(rank) * this.#scales[rank * PARTS]!;
    return Math.sqrt(Math.max(0, 1 - seen * seen));
  }

  #firstLook(wanted: Int16Array): { readonly values: Float32Array; readonly cut: number } {
    const values = new Float32Array(this.size);
    const products = this.#first.productsWith(wanted, 0, this.size);
    let [sum, squares] = [0, 0];
    for (let rank = 0; rank < this.size; rank += 1) {
      const value = products[rank]! * this.#scales[rank * PARTS]!;
      values[rank] = value;
      sum += value;
      squares += value * value;
    }
    const mean = sum / this.size;
    const deviation = Math.sqrt(Math.max(0, squares / this.size - mean * mean));
    return { values, cut: mean + FIRST_CUT * deviation };
  }

  #sample(wanted: Int16Array): Float32Array {
    const step = Math.floor(this.size / SAMPLE);
    const cosines = new Float32Array(Math.ceil(this.size / step));
    for (let at = 0; at < cosines.length; at += 1) cosines[at] = this.#cosine(wanted, at * step);
    return cosines;
  }

  #cosine(wanted: Int16Array, rank: number): number {
    return this.#cosineBy(this.#rows.productsWith(wanted, rank * PARTS, PARTS), 0, rank);
  }

  /**
   * Returns the cosine of a tool: the average of the cosine of the whole tool and of the greater cosine of name and
   * description. `first`: index of the tool's first product.
   */
  #cosineBy(products: Int32Array, first: number, rank: number): number {
    const scales = this.#scales;
    const at = rank * PARTS;
    const beside = Math.max(products[first + 1]! * scales[at + 1]!, products[first + 2]! * scales[at + 2]!);
    return (products[first]! * scales[at]! + beside) / (2 * QUERY_SCALE);
  }
}
