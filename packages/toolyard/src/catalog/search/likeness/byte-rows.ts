import { rowProducts, type RowProducts } from "./row-products.ts";

/** What the width of a row is a multiple of. */
const LANES = 8;

/** Vectors of whole numbers from -127 to 127, one after the other. */
export class ByteRows {
  readonly values: Int8Array;
  /** Numbers of a vector, and zeros up to a multiple of eight. */
  readonly width: number;
  readonly #products: RowProducts;

  constructor(count: number, dimensions: number) {
    this.width = widthOf(dimensions);
    this.#products = rowProducts(count, this.width);
    this.values = this.#products.values;
  }

  /** As many of the vector's numbers as a row has. */
  set(row: number, vector: Int8Array): void {
    this.values.set(vector.length > this.width ? vector.subarray(0, this.width) : vector, row * this.width);
  }

  /**
   * The products of `count` rows from this one on and of `wantedNumbers`; they stay until the next are asked for.
   * `wanted` may have more numbers than a row.
   */
  productsWith(wanted: Int16Array, row: number, count: number): Int32Array {
    return this.#products.of(wanted.length > this.width ? wanted.subarray(0, this.width) : wanted, row, count);
  }

  productOf(row: number, other: number): number {
    const { values, width } = this;
    let sum = 0;
    for (let at = row * width, to = at + width, beside = other * width; at < to; at += 4, beside += 4) {
      sum +=
        Math.imul(values[at]!, values[beside]!) +
        Math.imul(values[at + 1]!, values[beside + 1]!) +
        Math.imul(values[at + 2]!, values[beside + 2]!) +
        Math.imul(values[at + 3]!, values[beside + 3]!);
      sum |= 0;
    }
    return sum;
  }

  lengthOf(row: number): number {
    return Math.sqrt(this.productOf(row, row));
  }
}

/** What a vector of length 1 is multiplied with to be compared in whole numbers; products stay within 32 bits. */
export const QUERY_SCALE = 8191;

/** A vector of length 1 in whole numbers, as wide as a row of these dimensions. */
export function wantedNumbers(vector: Float32Array): Int16Array {
  const wanted = new Int16Array(widthOf(vector.length));
  for (let at = 0; at < vector.length; at += 1) wanted[at] = Math.round(vector[at]! * QUERY_SCALE);
  return wanted;
}

/** Writes a vector of any length into `into` from `begin` on, its largest number as 127. */
export function toBytes(vector: Float32Array, into: Int8Array, begin = 0): void {
  let largest = 0;
  for (let at = 0; at < vector.length; at += 1) largest = Math.max(largest, Math.abs(vector[at]!));
  if (!(largest > 0 && largest < Infinity)) return;
  for (let at = 0; at < vector.length; at += 1) into[begin + at] = Math.round((127 * vector[at]!) / largest);
}

function widthOf(dimensions: number): number {
  return LANES * Math.ceil(dimensions / LANES);
}
