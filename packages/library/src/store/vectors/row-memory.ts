import { endianness } from "node:os";

/** Rows of 8-bit integers in contiguous memory, and their products with a vector. */
export interface RowMemory {
  /** Memory of the rows. `grow` replaces the array. */
  readonly numbers: Int8Array;
  /** Reserves memory for that many rows and keeps the existing ones. */
  grow(rows: number): void;
  /** Returns the 32-bit products of at most `BLOCK` rows, starting with row `from`. The next call overwrites them. */
  products(wanted: Int16Array, from: number, count: number): Int32Array;
}

/** Maximum number of rows that are multiplied in one call. */
export const BLOCK = 4_096;
const PAGE_BYTES = 65_536;
/** Number of values that one vector instruction multiplies. */
const LANES = 8;

/** Returns the row length: the dimensions, rounded up to the width of a vector instruction. */
export function strideOf(dimensions: number): number {
  return Math.ceil(dimensions / LANES) * LANES;
}

/**
 * True after WebAssembly was refused once. If there is no memory, each further try would cost garbage collections of 80
 * ms.
 */
let isRefused = false;

/**
 * Creates the memory of rows. Uses WebAssembly vector instructions if the machine has them: eight numbers per
 * instruction, with the same products as plain code.
 */
export function rowMemory(stride: number): RowMemory {
  // WebAssembly is little-endian.
  if (isRefused || endianness() === "BE") return plainMemory(stride);
  try {
    return vectorMemory(stride);
  } catch {
    // There is no WebAssembly, there are no vector instructions, or memory is exhausted.
    isRefused = true;
    return plainMemory(stride);
  }
}

export function plainMemory(stride: number): RowMemory {
  let numbers = new Int8Array(0);
  const products = new Int32Array(BLOCK);
  return {
    get numbers() {
      return numbers;
    },
    grow(rows) {
      const more = new Int8Array(rows * stride);
      more.set(numbers.subarray(0, more.length));
      numbers = more;
    },
    products(wanted, from, count) {
      for (let row = 0; row < count; row += 1) products[row] = product(wanted, numbers, (from + row) * stride);
      return products;
    },
  };
}

/** Returns the product of one row. Four accumulators are twice as fast as one. */
function product(wanted: Int16Array, numbers: Int8Array, start: number): number {
  let [a, b, c, d] = [0, 0, 0, 0];
  for (let at = 0; at < wanted.length; at += 4) {
    a = (a + Math.imul(wanted[at]!, numbers[start + at]!)) | 0;
    b = (b + Math.imul(wanted[at + 1]!, numbers[start + at + 1]!)) | 0;
    c = (c + Math.imul(wanted[at + 2]!, numbers[start + at + 2]!)) | 0;
    d = (d + Math.imul(wanted[at + 3]!, numbers[start + at + 3]!)) | 0;
  }
  return (a + b + c + d) | 0;
}

/** Creates WebAssembly memory with this layout: the vector, the products, the rows. */
export function vectorMemory(stride: number): RowMemory {
  const productsAt = Math.ceil((2 * stride) / 16) * 16;
  const rowsAt = productsAt + 4 * BLOCK;
  const memory = new WebAssembly.Memory({ initial: Math.ceil(rowsAt / PAGE_BYTES) });
  const { exports } = new WebAssembly.Instance(multiplier(), { rows: { memory } });
  const multiply = exports["multiply"] as (...addresses: number[]) => void;
  const views = (): readonly [Int16Array, Int32Array, Int8Array] => [
    new Int16Array(memory.buffer, 0, stride),
    new Int32Array(memory.buffer, productsAt, BLOCK),
    new Int8Array(memory.buffer, rowsAt),
  ];
  let [wantedNow, products, numbers] = views();
  return {
    get numbers() {
      return numbers;
    },
    grow(rows) {
      const pages = Math.ceil((rowsAt + rows * stride - memory.buffer.byteLength) / PAGE_BYTES);
      if (pages <= 0) return;
      memory.grow(pages);
      [wantedNow, products, numbers] = views();
    },
    products(wanted, from, count) {
      wantedNow.set(wanted);
      multiply(0, rowsAt + from * stride, rowsAt + (from + count) * stride, stride, productsAt);
      return products;
    },
  };
}

let compiled: WebAssembly.Module | undefined;

function multiplier(): WebAssembly.Module {
  return (compiled ??= new WebAssembly.Module(Uint8Array.from(MODULE)));
}

const text = (word: string): number[] => [word.length, ...Buffer.from(word)];
/** Encodes an integer as LEB128: seven bits per byte, the lowest first. */
const size = (bytes: number): number[] => (bytes < 128 ? [bytes] : [(bytes & 127) | 128, bytes >> 7]);
const sized = (bytes: readonly number[]): number[] => [...size(bytes.length), ...bytes];

const [I32, V128] = [0x7f, 0x7b];
const [OUTER, LOOP, NO_VALUE, END, LEAVE, LEAVE_IF] = [0x02, 0x03, 0x40, 0x0b, 0x0c, 0x0d];
const [GET, SET, TEE, STORE, CONSTANT] = [0x20, 0x21, 0x22, 0x36, 0x41];
const [BELOW, NOT_BELOW, ADD, SHIFT] = [0x49, 0x4f, 0x6a, 0x74];
const ANYWHERE = [0, 0];
const LOAD_16_BYTES = [0xfd, 0x00, ...ANYWHERE];
const LOAD_8_WIDENED = [0xfd, 0x01, ...ANYWHERE];
const ZEROS = [0xfd, 0x0c, ...Array.from({ length: 16 }, () => 0)];
const LANE = [0xfd, 0x1b];
const ADD_LANES = [0xfd, 0xae, 0x01];
const MULTIPLY_PAIRS = [0xfd, 0xba, 0x01];
/** Indexes of the function's parameters, then of its local variables. */
const [WANTED, ROW, TO, WIDTH, PRODUCT, AT, SUM] = [0, 1, 2, 3, 4, 5, 6];

/** Code of `multiply(wanted, row, to, width, product)`. All parameters except `width` are addresses. */
const MULTIPLY = [
  [2, 1, I32, 1, V128],
  [OUTER, NO_VALUE, LOOP, NO_VALUE],
  [GET, ROW, GET, TO, NOT_BELOW, LEAVE_IF, 1],
  [...ZEROS, SET, SUM, CONSTANT, 0, SET, AT],
  [LOOP, NO_VALUE, GET, SUM],
  [GET, WANTED, GET, AT, CONSTANT, 1, SHIFT, ADD, ...LOAD_16_BYTES],
  [GET, ROW, GET, AT, ADD, ...LOAD_8_WIDENED],
  [...MULTIPLY_PAIRS, ...ADD_LANES, SET, SUM],
  [GET, AT, CONSTANT, LANES, ADD, TEE, AT, GET, WIDTH, BELOW, LEAVE_IF, 0, END],
  [GET, PRODUCT, GET, SUM, ...LANE, 0, GET, SUM, ...LANE, 1, ADD],
  [GET, SUM, ...LANE, 2, ADD, GET, SUM, ...LANE, 3, ADD, STORE, ...ANYWHERE],
  [GET, PRODUCT, CONSTANT, 4, ADD, SET, PRODUCT],
  [GET, ROW, GET, WIDTH, ADD, SET, ROW, LEAVE, 0],
  [END, END, END],
].flat();

const MODULE = [
  [0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
  [1, ...sized([1, 0x60, ...sized([I32, I32, I32, I32, I32]), 0])],
  [2, ...sized([1, ...text("rows"), ...text("memory"), 2, 0, 1])],
  [3, ...sized([1, 0])],
  [7, ...sized([1, ...text("multiply"), 0, 0])],
  [10, ...sized([1, ...sized(MULTIPLY)])],
].flat();
