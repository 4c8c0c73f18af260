/** The largest whole number of eight bits. */
const MOST = 127;
/** Of a sum of products in 32 bits. */
const MOST_SUM = 2 ** 31 - 1;
const MOST_QUERY = 2 ** 15;
const FIRST_ROOM = 1_024;

/** A vector in whole numbers, which times `scale` are what it was, but for `error` (the length of the difference). */
export interface Rounded {
  readonly numbers: Int32Array;
  readonly scale: number;
  readonly error: number;
}

/**
 * Vectors of one length, one after the other, in whole numbers of eight bits: a quarter of what they were. What a
 * cosine reckoned from them can be wrong by is known, so that the nearest are found exactly with a second look.
 */
export class VectorRows {
  readonly dimensions: number;
  #count = 0;
  #ids = new Float64Array(FIRST_ROOM);
  #scales = new Float32Array(FIRST_ROOM);
  #numbers: Int8Array;
  #error = 0;

  constructor(dimensions: number) {
    this.dimensions = dimensions;
    this.#numbers = new Int8Array(FIRST_ROOM * dimensions);
  }

  get count(): number {
    return this.#count;
  }

  idAt(row: number): number {
    return this.#ids[row]!;
  }

  /** What a cosine of `cosines` may differ by from that of the vectors as they were. */
  errorOf(query: Rounded): number {
    return this.#error + query.error * (1 + this.#error);
  }

  add(id: number, vector: Float32Array): void {
    if (this.#count === this.#ids.length) this.#grow();
    const { scale, numbers, error } = rounded(vector, MOST);
    this.#numbers.set(numbers, this.#count * this.dimensions);
    this.#ids[this.#count] = id;
    this.#scales[this.#count] = scale;
    // The scale is kept in fewer digits than it was reckoned in.
    this.#error = Math.max(this.#error, error + 1e-6);
    this.#count += 1;
  }

  /** Takes rows out; those behind them move up. */
  remove(from: number, count: number): void {
    const [end, d] = [from + count, this.dimensions];
    this.#ids.copyWithin(from, end, this.#count);
    this.#scales.copyWithin(from, end, this.#count);
    this.#numbers.copyWithin(from * d, end * d, this.#count * d);
    this.#count -= count;
  }

  /** A vector as `cosine` takes it. */
  query(vector: Float32Array): Rounded {
    const sum = vector.reduce((all, number) => all + Math.abs(number), 0);
    const most = vector.reduce((all, number) => Math.max(all, Math.abs(number)), 0);
    // No sum of products may go beyond 32 bits.
    return rounded(vector, Math.floor(Math.min(MOST_QUERY, (MOST_SUM / MOST / Math.max(sum, 1e-9)) * most)));
  }

  /** Nearly. In four lanes, which is twice as quick as in one. */
  cosine({ numbers: query, scale }: Rounded, row: number): number {
    const numbers = this.#numbers;
    const start = row * this.dimensions;
    let [a, b, c, d] = [0, 0, 0, 0];
    const end = this.dimensions - (this.dimensions % 4);
    let at = 0;
    for (; at < end; at += 4) {
      a = (a + Math.imul(query[at]!, numbers[start + at]!)) | 0;
      b = (b + Math.imul(query[at + 1]!, numbers[start + at + 1]!)) | 0;
      c = (c + Math.imul(query[at + 2]!, numbers[start + at + 2]!)) | 0;
      d = (d + Math.imul(query[at + 3]!, numbers[start + at + 3]!)) | 0;
    }
    for (; at < this.dimensions; at += 1) a = (a + Math.imul(query[at]!, numbers[start + at]!)) | 0;
    return (a + b + c + d) * scale * this.#scales[row]!;
  }

  #grow(): void {
    const room = Math.ceil(this.#ids.length * 1.5);
    const ids = new Float64Array(room);
    const scales = new Float32Array(room);
    const numbers = new Int8Array(room * this.dimensions);
    ids.set(this.#ids);
    scales.set(this.#scales);
    numbers.set(this.#numbers);
    [this.#ids, this.#scales, this.#numbers] = [ids, scales, numbers];
  }
}

function rounded(vector: Float32Array, most: number): Rounded {
  let largest = 0;
  for (const number of vector) largest = Math.max(largest, Math.abs(number));
  const scale = largest === 0 || most === 0 ? 1 : largest / most;
  const numbers = new Int32Array(vector.length);
  let square = 0;
  for (let at = 0; at < vector.length; at += 1) {
    numbers[at] = Math.round(vector[at]! / scale);
    square += (vector[at]! - numbers[at]! * scale) ** 2;
  }
  return { numbers, scale, error: Math.sqrt(square) };
}
