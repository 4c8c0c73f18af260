/** Room that is kept free, so that small values need no check of their own. */
const MARGIN = 64;
/** Maximum length of a text that is written character by character. Longer texts use the platform's encoder. */
const MAX_LOOP_CHARS = 127;
const TWO_32 = 2 ** 32;

const LENGTH = 2;
const FIXED_64 = 1;
const FIXED_32 = 5;

/** Part of a text, from `start` up to the character before `end`. */
export interface CharRange {
  readonly start: number;
  readonly end: number;
}

/**
 * Writes protobuf messages into a buffer that grows. Only the wire types that OTLP uses are supported, and only field
 * numbers up to 31.
 */
export class ProtoWriter {
  #bytes: Buffer;
  #at: number;

  /** `start`: number of bytes that stay free before the first message. */
  constructor(size: number, start = 0) {
    this.#bytes = Buffer.allocUnsafeSlow(Math.max(size, start + 2 * MARGIN));
    this.#at = start;
  }

  /** Number of bytes so far, with the free bytes at the start. */
  get length(): number {
    return this.#at;
  }

  /** Returns the written bytes from a position. The writer must not be used afterwards. */
  bytesFrom(from: number): Uint8Array {
    return this.#bytes.subarray(from, this.#at);
  }

  /** Copies bytes to a position before the first message. */
  prefix(bytes: Uint8Array, at: number): void {
    this.#bytes.set(bytes, at);
  }

  /** Writes the tag and the length of a message. The caller writes its bytes next. */
  message(field: number, length: number): void {
    this.#reserve(MARGIN);
    this.#tag(field, LENGTH);
    this.#varint(length);
  }

  /**
   * Begins a nested message. `end` must get the returned position. `lengthSize`: expected number of bytes of the
   * message's length; two bytes are enough for 16,383.
   */
  begin(field: number, lengthSize = 1): number {
    this.#reserve(MARGIN);
    this.#tag(field, LENGTH);
    this.#at += lengthSize;
    return this.#at;
  }

  /** Writes the length of a nested message. If the length has not the expected size, the message is moved. */
  end(from: number, lengthSize = 1): void {
    const length = this.#at - from;
    const moved = varintSize(length) - lengthSize;
    if (moved !== 0) {
      this.#reserve(MARGIN);
      this.#bytes.copyWithin(from + moved, from, this.#at);
    }
    this.#at = from - lengthSize;
    this.#varint(length);
    this.#at += length;
  }

  /** Writes encoded bytes, such as a field that repeats in many messages. */
  raw(bytes: Uint8Array): void {
    const { length } = bytes;
    this.#reserve(length);
    const target = this.#bytes;
    const at = this.#at;
    if (length > 2 * MARGIN) target.set(bytes, at);
    else for (let index = 0; index < length; index += 1) target[at + index] = bytes[index]!;
    this.#at = at + length;
  }

  text(field: number, value: string): void {
    const { length } = value;
    this.#reserve(length * 3 + MARGIN);
    this.#tag(field, LENGTH);
    if (length <= MAX_LOOP_CHARS && this.#ascii(value, length)) return;
    this.#varint(Buffer.byteLength(value));
    this.#at += this.#bytes.write(value, this.#at, "utf8");
  }

  /** Writes the bytes of the hexadecimal digits in a part of a text. */
  hex(field: number, value: string, { start, end }: CharRange): void {
    const size = (end - start) >> 1;
    this.#reserve(size);
    this.#tag(field, LENGTH);
    this.#bytes[this.#at++] = size;
    for (let index = start; index < end; index += 2)
      this.#bytes[this.#at++] = (digit(value.charCodeAt(index)) << 4) | digit(value.charCodeAt(index + 1));
  }

  /** Writes an integer from 0 to 2^53. */
  integer(field: number, value: number): void {
    this.#reserve(MARGIN);
    this.#tag(field, 0);
    this.#varint(value);
  }

  fixed32(field: number, value: number): void {
    this.#reserve(MARGIN);
    this.#tag(field, FIXED_32);
    this.#uint32(value);
  }

  /** Writes an integer from 0 to 2^53 in eight bytes. */
  fixed64(field: number, value: number): void {
    this.#reserve(MARGIN);
    this.#tag(field, FIXED_64);
    this.#uint64(Math.floor(value / TWO_32), value % TWO_32);
  }

  /** Writes a time, given in milliseconds since 1970, in nanoseconds. */
  time(field: number, epochMs: number): void {
    this.#reserve(MARGIN);
    this.#tag(field, FIXED_64);
    const whole = Math.floor(epochMs);
    // The product is above 2^53, so it is computed in two parts: high * 2^20 + low.
    const high = Math.floor(whole / 1_048_576) * 1e6;
    const low = (whole % 1_048_576) * 1e6 + Math.round((epochMs - whole) * 1e6);
    const rest = (high % 4096) * 1_048_576 + low;
    this.#uint64(Math.floor(high / 4096) + Math.floor(rest / TWO_32), rest % TWO_32);
  }

  double(field: number, value: number): void {
    this.#reserve(MARGIN);
    this.#tag(field, FIXED_64);
    this.#at = this.#bytes.writeDoubleLE(value, this.#at);
  }

  /** Writes a list of integers from 0 to 2^53 in eight bytes each. */
  packedFixed64(field: number, values: ArrayLike<number>): void {
    this.#packed(field, values.length * 8);
    for (let index = 0; index < values.length; index += 1)
      this.#uint64(Math.floor(values[index]! / TWO_32), values[index]! % TWO_32);
  }

  packedDouble(field: number, values: ArrayLike<number>): void {
    this.#packed(field, values.length * 8);
    for (let index = 0; index < values.length; index += 1)
      this.#at = this.#bytes.writeDoubleLE(values[index]!, this.#at);
  }

  #packed(field: number, size: number): void {
    this.#reserve(size + MARGIN);
    this.#tag(field, LENGTH);
    this.#varint(size);
  }

  #tag(field: number, wire: number): void {
    const tag = (field << 3) | wire;
    if (tag < 128) {
      this.#bytes[this.#at++] = tag;
      return;
    }
    this.#bytes[this.#at++] = (tag & 127) | 128;
    this.#bytes[this.#at++] = tag >> 7;
  }

  #varint(value: number): void {
    let rest = value;
    while (rest > 127) {
      this.#bytes[this.#at++] = (rest % 128) | 128;
      rest = Math.floor(rest / 128);
    }
    this.#bytes[this.#at++] = rest;
  }

  /** Writes a short text after its length. Returns false, without effect, if a character needs several bytes. */
  #ascii(value: string, length: number): boolean {
    const bytes = this.#bytes;
    const at = this.#at + 1;
    for (let index = 0; index < length; index += 1) {
      const code = value.charCodeAt(index);
      if (code > 127) return false;
      bytes[at + index] = code;
    }
    bytes[at - 1] = length;
    this.#at = at + length;
    return true;
  }

  #uint32(value: number): void {
    const bytes = this.#bytes;
    const at = this.#at;
    bytes[at] = value & 255;
    bytes[at + 1] = (value >>> 8) & 255;
    bytes[at + 2] = (value >>> 16) & 255;
    bytes[at + 3] = value >>> 24;
    this.#at = at + 4;
  }

  #uint64(high: number, low: number): void {
    this.#uint32(low);
    this.#uint32(high);
  }

  #reserve(size: number): void {
    if (this.#at + size + MARGIN <= this.#bytes.length) return;
    const grown = Buffer.allocUnsafeSlow(Math.max(this.#bytes.length * 2, this.#at + size + 2 * MARGIN));
    this.#bytes.copy(grown, 0, 0, this.#at);
    this.#bytes = grown;
  }
}

/** Returns the number of bytes of a varint. */
export function varintSize(value: number): number {
  let size = 1;
  for (let rest = value; rest > 127; rest = Math.floor(rest / 128)) size += 1;
  return size;
}

/** Returns the value of a hexadecimal digit in lower case. */
function digit(code: number): number {
  return code < 58 ? code - 48 : code - 87;
}
