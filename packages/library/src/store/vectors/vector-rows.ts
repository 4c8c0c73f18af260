import { BLOCK, plainMemory, rowMemory, strideOf, type RowMemory } from "./row-memory.ts";

/** Largest 8-bit integer. */
const MOST = 127;
/** Largest 32-bit sum of products. */
const MOST_SUM = 2 ** 31 - 1;
/** Largest 16-bit integer. */
const MOST_QUERY = 2 ** 15 - 1;
const FIRST_ROOM = 1_024;
/** Relative error of the scale, which is stored with less precision than it was computed. */
const SCALE_ERROR = 1e-6;

/** Number of fractions between two integers: as many as eight bits can store. */
const PARTS = 254;

/**
 * A vector of integers. Multiplied by `scale` it approximates the original. `error` is the length of the difference.
 */
export interface QuantizedVector {
  readonly numbers: Int16Array;
  readonly scale: number;
  readonly error: number;
}

/** Vectors of one length as 8-bit integers, as `VectorRows` stores them. */
export interface RoundedRows {
  readonly dimensions: number;
  readonly ids: Float64Array;
  readonly scales: Float32Array;
  readonly numbers: Int8Array;
  /** Fraction of each number, in units of 1 / `PARTS`. */
  readonly parts: Int8Array;
  /** Largest rounding error of a row: `error` if only `numbers` are used, `fineError` if `parts` are added. */
  readonly error: number;
  readonly fineError: number;
}

export interface RowRange {
  readonly from: number;
  readonly to: number;
}

/**
 * Vectors of one length, stored as 8-bit integers and 8-bit fractions: half the original size. The error of a cosine is
 * bounded, so the nearest vectors are found exactly. The integers select candidates among all vectors, the fractions
 * reduce the candidates, and the original vectors decide.
 */
export class VectorRows {
  readonly dimensions: number;
  readonly #stride: number;
  readonly #memory: RowMemory;
  readonly #parts: RowMemory;
  #count = 0;
  #ids = new Float64Array(0);
  #scales = new Float32Array(0);
  #error = 0;
  #fineError = 0;

  /** @param room Number of rows to reserve memory for. Memory grows as needed. */
  constructor(dimensions: number, room = 0) {
    this.dimensions = dimensions;
    this.#stride = strideOf(dimensions);
    this.#memory = rowMemory(this.#stride);
    this.#parts = plainMemory(this.#stride);
    this.#grow(room);
  }

  get count(): number {
    return this.#count;
  }

  idAt(row: number): number {
    return this.#ids[row]!;
  }

  /** Returns the largest error of the values of `cosines`. */
  errorOf(query: QuantizedVector): number {
    return this.#error + query.error * (1 + this.#error);
  }

  /** Returns the largest error of `fineCosine`. */
  get fineError(): number {
    return this.#fineError;
  }

  add({ ids, scales, numbers, parts, error, fineError }: RoundedRows): void {
    this.#grow(this.#count + ids.length);
    this.#ids.set(ids, this.#count);
    this.#scales.set(scales, this.#count);
    this.#set(this.#memory.numbers, numbers);
    this.#set(this.#parts.numbers, parts);
    this.#error = Math.max(this.#error, error);
    this.#fineError = Math.max(this.#fineError, fineError);
    this.#count += ids.length;
  }

  #set(all: Int8Array, own: Int8Array): void {
    const [d, stride, from] = [this.dimensions, this.#stride, this.#count * this.#stride];
    if (d === stride) all.set(own, from);
    else
      for (let row = 0; row * d < own.length; row += 1) {
        const start = from + row * stride;
        all.set(own.subarray(row * d, (row + 1) * d), start);
        // Clears the padding, which may contain numbers of rows that were moved.
        all.fill(0, start + d, start + stride);
      }
  }

  /** Keeps only the given rows, which must be in order. Each row is moved once. */
  keep(spans: Iterable<{ readonly from: number; readonly count: number }>): void {
    const stride = this.#stride;
    let to = 0;
    for (const { from, count } of spans) {
      const end = from + count;
      if (from !== to) {
        this.#ids.copyWithin(to, from, end);
        this.#scales.copyWithin(to, from, end);
        for (const { numbers } of [this.#memory, this.#parts])
          numbers.copyWithin(to * stride, from * stride, end * stride);
      }
      to += count;
    }
    this.#count = to;
  }

  /** Converts a vector into the form that `cosines` requires. */
  query(vector: Float32Array): QuantizedVector {
    let [sum, most] = [0, 0];
    for (const number of vector) [sum, most] = [sum + Math.abs(number), Math.max(most, Math.abs(number))];
    // Limits the numbers so that no sum of products exceeds 32 bits.
    const largest = Math.floor(Math.min(MOST_QUERY, (MOST_SUM / MOST / Math.max(sum, 1e-9)) * most));
    const { numbers, scale, error } = rounded(vector, largest);
    const filled = new Int16Array(this.#stride);
    filled.set(numbers);
    return { numbers: filled, scale, error };
  }

  /**
   * Computes the approximate cosines of a range of rows, in blocks. `look` receives the blocks in order. The array is
   * reused.
   */
  cosines(query: QuantizedVector, { from, to }: RowRange, look: (cosines: Float64Array, from: number) => void): void {
    const cosines = new Float64Array(Math.min(BLOCK, to - from));
    for (let start = from; start < to; start += BLOCK) {
      const count = Math.min(BLOCK, to - start);
      const products = this.#memory.products(query.numbers, start, count);
      for (let at = 0; at < count; at += 1) cosines[at] = products[at]! * query.scale * this.#scales[start + at]!;
      look(cosines.subarray(0, count), start);
    }
  }

  /** Returns the cosine of one row, with the fractions. */
  fineCosine(vector: Float32Array, row: number): number {
    const [numbers, parts] = [this.#memory.numbers, this.#parts.numbers];
    const start = row * this.#stride;
    let sum = 0;
    for (let at = 0; at < vector.length; at += 1)
      sum += vector[at]! * (numbers[start + at]! * PARTS + parts[start + at]!);
    return (sum * this.#scales[row]!) / PARTS;
  }

  #grow(wanted: number): void {
    if (wanted <= this.#ids.length) return;
    const room = Math.max(FIRST_ROOM, wanted, Math.ceil(this.#ids.length * 1.5));
    const ids = new Float64Array(room);
    const scales = new Float32Array(room);
    ids.set(this.#ids);
    scales.set(this.#scales);
    [this.#ids, this.#scales] = [ids, scales];
    this.#memory.grow(room);
    this.#parts.grow(room);
  }
}

/** Rounds vectors. Omits vectors with a different length than the first one: they are from another embedder. */
export function roundRows(vectors: ReadonlyMap<number, Float32Array>): RoundedRows | undefined {
  const [first] = vectors.values();
  if (!first) return undefined;
  const dimensions = first.length;
  const own = Array.from(vectors).filter(([, vector]) => vector.length === dimensions);
  const scales = new Float32Array(own.length);
  const [numbers, parts] = [new Int8Array(own.length * dimensions), new Int8Array(own.length * dimensions)];
  let [error, fineError] = [0, 0];
  for (const [row, [, vector]] of own.entries()) {
    const whole = rounded(vector, MOST);
    const start = row * dimensions;
    let square = 0;
    for (let at = 0; at < dimensions; at += 1) {
      const given = vector[at]! / whole.scale;
      const part = Math.round((given - whole.numbers[at]!) * PARTS);
      numbers[start + at] = whole.numbers[at]!;
      parts[start + at] = part;
      square += ((given - whole.numbers[at]! - part / PARTS) * whole.scale) ** 2;
    }
    scales[row] = whole.scale;
    error = Math.max(error, whole.error);
    fineError = Math.max(fineError, Math.sqrt(square));
  }
  const ids = Float64Array.from(own, ([id]) => id);
  const errors = { error: error + SCALE_ERROR, fineError: fineError + SCALE_ERROR };
  return { dimensions, ids, scales, numbers, parts, ...errors };
}

function rounded(vector: Float32Array, most: number): QuantizedVector {
  let largest = 0;
  for (const number of vector) largest = Math.max(largest, Math.abs(number));
  const scale = largest === 0 || most === 0 ? 1 : largest / most;
  const numbers = new Int16Array(vector.length);
  let square = 0;
  for (let at = 0; at < vector.length; at += 1) {
    numbers[at] = Math.round(vector[at]! / scale);
    square += (vector[at]! - numbers[at]! * scale) ** 2;
  }
  return { numbers, scale, error: Math.sqrt(square) };
}
