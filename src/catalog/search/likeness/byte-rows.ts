/** Vectors of whole numbers from -127 to 127, one after the other. */
export class ByteRows {
  readonly values: Int8Array;
  /** Numbers of a vector, and zeros up to a multiple of four. */
  readonly width: number;

  constructor(count: number, dimensions: number) {
    this.width = 4 * Math.ceil(dimensions / 4);
    this.values = new Int8Array(count * this.width);
  }

  /** As many of the vector's numbers as a row has. */
  set(row: number, vector: Int8Array): void {
    this.values.set(vector.length > this.width ? vector.subarray(0, this.width) : vector, row * this.width);
  }

  /** The product of a row and of `wantedNumbers`, as a whole number of 32 bits. */
  productWith(wanted: Int32Array, row: number): number {
    const { values, width } = this;
    let sum = 0;
    for (let at = 0, other = row * width; at < width; at += 4, other += 4) {
      sum +=
        Math.imul(wanted[at]!, values[other]!) +
        Math.imul(wanted[at + 1]!, values[other + 1]!) +
        Math.imul(wanted[at + 2]!, values[other + 2]!) +
        Math.imul(wanted[at + 3]!, values[other + 3]!);
      sum |= 0;
    }
    return sum;
  }

  /** The same of three rows that follow one another, into `products`; a third faster than one by one. */
  productsWith(wanted: Int32Array, row: number, products: Int32Array): void {
    const { values, width } = this;
    let one = 0;
    let two = 0;
    let three = 0;
    for (let at = 0, a = row * width, b = a + width, c = b + width; at < width; at += 2, a += 2, b += 2, c += 2) {
      const x = wanted[at]!;
      const y = wanted[at + 1]!;
      one = (one + Math.imul(x, values[a]!) + Math.imul(y, values[a + 1]!)) | 0;
      two = (two + Math.imul(x, values[b]!) + Math.imul(y, values[b + 1]!)) | 0;
      three = (three + Math.imul(x, values[c]!) + Math.imul(y, values[c + 1]!)) | 0;
    }
    products[0] = one;
    products[1] = two;
    products[2] = three;
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
export function wantedNumbers(vector: Float32Array): Int32Array {
  const wanted = new Int32Array(4 * Math.ceil(vector.length / 4));
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
