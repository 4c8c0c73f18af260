import { rowProducts, type RowProducts } from "./row-products.ts";

/** Number of values that one vector instruction multiplies. The width of a row is a multiple of it. */
const LANES = 8;

/** Vectors of whole numbers from -127 to 127, stored one after another. */
export class ByteRows {
  readonly values: Int8Array;
  /** Length of a row: the dimensions, padded with zeros to a multiple of eight. */
  readonly width: number;
  readonly #products: RowProducts;

  constructor(count: number, dimensions: number) {
    this.width = widthOf(dimensions);
    this.#products = rowProducts(count, this.width);
    this.values = this.#products.values;
  }

  /** Copies a vector into a row. Numbers beyond the width of a row are ignored. */
  set(row: number, vector: Int8Array): void {
    this.values.set(vector.length > this.width ? vector.subarray(0, this.width) : vector, row * this.width);
  }

  /**
   * Returns the products of `wanted` with `count` rows, starting at `row`. The result is valid until the next call.
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

/** Factor that converts a vector of length 1 to whole numbers. With it, products stay within 32 bits. */
export const QUERY_SCALE = 8191;

/** Converts a vector of length 1 to whole numbers, padded to the width of a row of the same dimensions. */
export function wantedNumbers(vector: Float32Array): Int16Array {
  const wanted = new Int16Array(widthOf(vector.length));
  for (let at = 0; at < vector.length; at += 1) wanted[at] = Math.round(vector[at]! * QUERY_SCALE);
  return wanted;
}

/** Writes a vector of any length into `into`, starting at `begin`, scaled so that its largest number is 127. */
export function toBytes(vector: Float32Array, into: Int8Array, begin = 0): void {
  let largest = 0;
  for (let at = 0; at < vector.length; at += 1) largest = Math.max(largest, Math.abs(vector[at]!));
  if (!(largest > 0 && largest < Infinity)) return;
  for (let at = 0; at < vector.length; at += 1) into[begin + at] = Math.round((127 * vector[at]!) / largest);
}

function widthOf(dimensions: number): number {
  return LANES * Math.ceil(dimensions / LANES);
}
