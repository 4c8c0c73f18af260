import { BLOCK, plainMemory, rowMemory, strideOf, type RowMemory } from "./row-memory.ts";

/** The largest whole number of eight bits. */
const MOST = 127;
/** Largest 32-bit sum of products. */
const MOST_SUM = 2 ** 31 - 1;
/** The largest whole number of sixteen bits. */
const MOST_QUERY = 2 ** 15 - 1;
const FIRST_ROOM = 1_024;
/** The scale is kept in fewer digits than it was reckoned in. */
const SCALE_ERROR = 1e-6;

/** Parts between two neighbouring whole numbers: as many as eight bits hold. */
const PARTS = 254;

/**
 * A vector of whole numbers. Multiplied by `scale` it equals the original but for `error`, the length of the
 * difference.
 */
export interface QuantizedVector {
  readonly numbers: Int16Array;
  readonly scale: number;
  readonly error: number;
}

/** Vectors of one length in whole numbers of eight bits, as `VectorRows` keeps them. */
export interface RoundedRows {
  readonly dimensions: number;
  readonly ids: Float64Array;
  readonly scales: Float32Array;
  readonly numbers: Int8Array;
  /** Rest of each number, in parts of it. */
  readonly parts: Int8Array;
  /** Largest error of all rows: `error` of the rounded integers, the other with their fractions. */
  readonly error: number;
  readonly fineError: number;
}

export interface RowRange {
  readonly from: number;
  readonly to: number;
}

/**
 * Vectors of one length, stored as 8-bit whole numbers and 8-bit parts: half the original size. The error of a cosine
 * is bounded, so the nearest vectors are found exactly: first among all by the whole numbers, then among the possible
 * ones with their parts, then among the few left with the original vectors.
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

  /** With room for so many; there is more when it is wanted. */
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

  /** The same of `fineCosine`. */
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
        // Clears numbers of rows that were moved.
        all.fill(0, start + d, start + stride);
      }
  }

  /** Keeps only these rows, which are in order. Each is moved once. */
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

  /** A vector as `cosines` takes it. */
  query(vector: Float32Array): QuantizedVector {
    let [sum, most] = [0, 0];
    for (const number of vector) [sum, most] = [sum + Math.abs(number), Math.max(most, Math.abs(number))];
    // No sum of products may go beyond 32 bits.
    const largest = Math.floor(Math.min(MOST_QUERY, (MOST_SUM / MOST / Math.max(sum, 1e-9)) * most));
    const { numbers, scale, error } = rounded(vector, largest);
    const filled = new Int16Array(this.#stride);
    filled.set(numbers);
    return { numbers: filled, scale, error };
  }

  /** Nearly, of each of these rows, in pieces; `look` sees them in their order. The array is used again. */
  cosines(query: QuantizedVector, { from, to }: RowRange, look: (cosines: Float64Array, from: number) => void): void {
    const cosines = new Float64Array(Math.min(BLOCK, to - from));
    for (let start = from; start < to; start += BLOCK) {
      const count = Math.min(BLOCK, to - start);
      const products = this.#memory.products(query.numbers, start, count);
      for (let at = 0; at < count; at += 1) cosines[at] = products[at]! * query.scale * this.#scales[start + at]!;
      look(cosines.subarray(0, count), start);
    }
  }

  /** More nearly, of one row. */
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

/** Rounds vectors. Omits vectors with a length other than the first one's: they are from another embedder. */
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
