import { ByteRows } from "./byte-rows.ts";
import { usualOf, type Likeness } from "./usual.ts";

/** Numbers of a vector that a first look takes; the table has those that tell most first. */
export const FIRST_LOOK = 32;
/** How many deviations above the mean of the first look a row must lie to be looked at whole. */
const FIRST_CUT = 1;
/** Rows from which the usual likeness of a tool to the query is known. */
const SAMPLE = 128;
/** Fewer tools are all looked at whole. */
const FEW = 512;
/** Usual figures of a catalogue, which count as much as so many rows: few tools say little of what is usual. */
const PRIOR = { rows: 60, mean: 0.1, deviation: 0.12 };
/** A query in whole numbers. */
const QUERY_SCALE = 8191;
/** Vectors of a tool: whole, name, description. */
const PARTS = 3;

/** The vectors of tools in the order of their ranks. */
export class VectorRows {
  readonly size: number;
  /** The first numbers of each tool as a whole. */
  readonly first: ByteRows;
  /** Each tool as a whole, its name, its description. */
  readonly rows: ByteRows;
  /** One over the length of each of `rows`; 0 for what has no direction. */
  readonly scales: Float32Array;

  constructor(vectors: readonly Int8Array[], dimensions: number) {
    this.size = vectors.length;
    this.first = new ByteRows(vectors.length, FIRST_LOOK);
    this.rows = new ByteRows(vectors.length * PARTS, dimensions);
    for (const [rank, vector] of vectors.entries()) {
      this.first.take(rank, vector);
      this.rows.values.set(vector, rank * PARTS * dimensions);
    }
    this.scales = Float32Array.from({ length: vectors.length * PARTS }, (_, row) => {
      const length = this.rows.lengthOf(row);
      return length === 0 ? 0 : 1 / length;
    });
  }

  /** `query`: a vector of length 1. */
  likenessTo(query: Float32Array): Likeness {
    const wanted = Int32Array.from(query, (value) => Math.round(value * QUERY_SCALE));
    const cosines = new Float32Array(this.size);
    const { values, cut } = this.#firstLook(wanted);
    for (let rank = 0; rank < this.size; rank += 1)
      if (values[rank]! >= cut) cosines[rank] = this.#cosine(wanted, rank);
    return { cosines, ...usualOf(this.#sample(wanted), PRIOR) };
  }

  /** The cosine of two tools as a whole. */
  cosineOf(rank: number, other: number): number {
    const [row, beside] = [rank * PARTS, other * PARTS];
    return this.rows.productOf(row, beside) * this.scales[row]! * this.scales[beside]!;
  }

  /** The same by the first numbers alone. */
  firstOf(rank: number, other: number): number {
    return this.first.productOf(rank, other) * this.scales[rank * PARTS]! * this.scales[other * PARTS]!;
  }

  /** What the first look leaves of a tool's vector, as a share of its length. */
  restOf(rank: number): number {
    const seen = this.first.lengthOf(rank) * this.scales[rank * PARTS]!;
    return Math.sqrt(Math.max(0, 1 - seen * seen));
  }

  #firstLook(wanted: Int32Array): { readonly values: Float32Array; readonly cut: number } {
    const values = new Float32Array(this.size);
    let [sum, squares] = [0, 0];
    for (let rank = 0; rank < this.size; rank += 1) {
      const value = this.first.productWith(wanted, rank) * this.scales[rank * PARTS]!;
      values[rank] = value;
      sum += value;
      squares += value * value;
    }
    const mean = sum / this.size;
    const deviation = Math.sqrt(Math.max(0, squares / this.size - mean * mean));
    return { values, cut: this.size <= FEW ? -Infinity : mean + FIRST_CUT * deviation };
  }

  #sample(wanted: Int32Array): Float32Array {
    const step = Math.max(1, Math.floor(this.size / SAMPLE));
    return Float32Array.from({ length: Math.ceil(this.size / step) }, (_, at) => this.#cosine(wanted, at * step));
  }

  /** Half by the tool as a whole, half by the better of name and description. */
  #cosine(wanted: Int32Array, rank: number): number {
    const { scales, rows } = this;
    const at = rank * PARTS;
    const whole = rows.productWith(wanted, at) * scales[at]!;
    const name = rows.productWith(wanted, at + 1) * scales[at + 1]!;
    const about = rows.productWith(wanted, at + 2) * scales[at + 2]!;
    return (whole + Math.max(name, about)) / (2 * QUERY_SCALE);
  }
}
