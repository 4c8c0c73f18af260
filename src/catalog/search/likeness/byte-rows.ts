/** Vectors of whole numbers from -127 to 127, one after the other. */
export class ByteRows {
  readonly values: Int8Array;
  /** Numbers of a vector: a multiple of four. */
  readonly width: number;

  constructor(count: number, width: number) {
    this.values = new Int8Array(count * width);
    this.width = width;
  }

  /** The first numbers of `row` in another's rows. */
  take(row: number, vector: Int8Array): void {
    this.values.set(vector.subarray(0, this.width), row * this.width);
  }

  /** The product of a row and of numbers up to 8191: with 128 of them it is a whole number of 32 bits. */
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
