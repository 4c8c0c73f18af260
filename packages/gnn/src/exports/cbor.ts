import { FormatError } from "./format-error.ts";

/** Maximum nesting depth that is read. */
const MAX_DEPTH = 128;
/** CBOR's self-description tag (55799), which identifies such files. */
const MARK = [0xd9, 0xd9, 0xf7] as const;

/** Encodes a JSON value as CBOR (RFC 8949): integers in their shortest form, other numbers with 64 bits. */
export function toCbor(value: unknown): Uint8Array {
  const writer = new Writer();
  for (const byte of MARK) writer.byte(byte);
  writer.value(value);
  return writer.bytes();
}

class Writer {
  #buffer = new Uint8Array(1024);
  #view = new DataView(this.#buffer.buffer);
  #length = 0;

  bytes(): Uint8Array {
    return this.#buffer.slice(0, this.#length);
  }

  byte(byte: number): void {
    this.#room(1);
    this.#buffer[this.#length++] = byte;
  }

  value(value: unknown): void {
    if (typeof value === "number") this.#number(value);
    else if (typeof value === "string") this.#text(value);
    else if (typeof value === "boolean") this.byte(value ? 0xf5 : 0xf4);
    else if (Array.isArray(value)) {
      this.#head(4, value.length);
      for (const item of value) this.value(item);
    } else if (typeof value === "object" && value !== null) this.#map(value);
    else this.byte(0xf6);
  }

  #map(value: object): void {
    const entries = Object.entries(value).filter(([, item]) => item !== undefined);
    this.#head(5, entries.length);
    for (const [key, item] of entries) {
      this.#text(key);
      this.value(item);
    }
  }

  #number(value: number): void {
    if (Number.isSafeInteger(value) && !Object.is(value, -0)) {
      if (value >= 0) this.#head(0, value);
      else this.#head(1, -1 - value);
      return;
    }
    this.#room(9);
    this.#buffer[this.#length] = 0xfb;
    this.#view.setFloat64(this.#length + 1, value);
    this.#length += 9;
  }

  #text(text: string): void {
    const bytes = new TextEncoder().encode(text);
    this.#head(3, bytes.length);
    this.#room(bytes.length);
    this.#buffer.set(bytes, this.#length);
    this.#length += bytes.length;
  }

  #head(major: number, count: number): void {
    this.#room(9);
    const first = major << 5;
    if (count < 24) this.byte(first | count);
    else if (count < 0x100) {
      this.byte(first | 24);
      this.byte(count);
    } else if (count < 0x10000) {
      this.byte(first | 25);
      this.#view.setUint16(this.#length, count);
      this.#length += 2;
    } else if (count < 0x1_0000_0000) {
      this.byte(first | 26);
      this.#view.setUint32(this.#length, count);
      this.#length += 4;
    } else {
      this.byte(first | 27);
      this.#view.setBigUint64(this.#length, BigInt(count));
      this.#length += 8;
    }
  }

  #room(bytes: number): void {
    if (this.#length + bytes <= this.#buffer.length) return;
    const larger = new Uint8Array(Math.max(this.#buffer.length * 2, this.#length + bytes));
    larger.set(this.#buffer);
    this.#buffer = larger;
    this.#view = new DataView(larger.buffer);
  }
}

/** Decodes CBOR that `toCbor` wrote. Throws a `FormatError`. */
export function fromCbor(bytes: Uint8Array): unknown {
  const reader = new Reader(bytes);
  const value = reader.value(0);
  if (!reader.isAtEnd) throw new FormatError("Bytes follow the CBOR value.");
  return value;
}

class Reader {
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    if (MARK.every((byte, index) => bytes[index] === byte)) this.#at = MARK.length;
  }

  get isAtEnd(): boolean {
    return this.#at === this.#bytes.length;
  }

  value(depth: number): unknown {
    if (depth > MAX_DEPTH) throw new FormatError(`The CBOR value is nested deeper than ${MAX_DEPTH} levels.`);
    const first = this.#take(1)[0]!;
    const major = first >> 5;
    if (major === 7) return this.#simple(first);
    const count = this.#count(first & 31);
    if (major === 0) return count;
    if (major === 1) return -1 - count;
    if (major === 3) return new TextDecoder().decode(this.#take(count));
    if (major === 4) return this.#list(count, depth);
    if (major === 5) return this.#map(count, depth);
    throw new FormatError(`JSON has no equivalent of the CBOR type ${major}.`);
  }

  #list(count: number, depth: number): unknown[] {
    this.#expect(count);
    return Array.from({ length: count }, () => this.value(depth + 1));
  }

  #map(count: number, depth: number): object {
    this.#expect(count);
    const entries: [string, unknown][] = [];
    for (let index = 0; index < count; index += 1) {
      const key = this.value(depth + 1);
      if (typeof key !== "string") throw new FormatError("A key of a CBOR map is not a text.");
      entries.push([key, this.value(depth + 1)]);
    }
    return Object.fromEntries(entries);
  }

  #simple(first: number): unknown {
    if (first === 0xf4 || first === 0xf5) return first === 0xf5;
    if (first === 0xf6 || first === 0xf7) return null;
    if (first === 0xfb) return this.#view.getFloat64(this.#skip(8));
    throw new FormatError(`The CBOR value ${first} is not supported.`);
  }

  #count(short: number): number {
    if (short < 24) return short;
    if (short === 24) return this.#view.getUint8(this.#skip(1));
    if (short === 25) return this.#view.getUint16(this.#skip(2));
    if (short === 26) return this.#view.getUint32(this.#skip(4));
    if (short === 27) return Number(this.#view.getBigUint64(this.#skip(8)));
    throw new FormatError("CBOR of indefinite length is not supported.");
  }

  /** Throws if fewer bytes remain than items are announced, because each item has at least one byte. */
  #expect(count: number): void {
    if (count > this.#bytes.length - this.#at) throw new FormatError("The CBOR value ends too early.");
  }

  #take(count: number): Uint8Array {
    const from = this.#skip(count);
    return this.#bytes.subarray(from, from + count);
  }

  #skip(count: number): number {
    this.#expect(count);
    this.#at += count;
    return this.#at - count;
  }
}
