import { notHttp } from "./fault.ts";
import { isField } from "./head.ts";

/** Maximum length of a line with a chunk's size. */
const MAX_SIZE_LINE_BYTES = 1024;
/** Maximum size of the chunk extensions of one body, which are ignored. */
const MAX_EXTENSION_BYTES = 16 * 1024;
/** Maximum size of the trailers, which are ignored. */
const MAX_TRAILER_BYTES = 8 * 1024;

// At most 13 hexadecimal digits, so that the number is a safe integer.
const SIZE_LINE = /^([0-9A-Fa-f]{1,13})((?:;[\t\x20-\x7e\x80-\xff]*)?)\r\n$/;
const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
/** Maximum number of digits that the fast path reads. Longer sizes take the general path. */
const MAX_PLAIN_DIGITS = 8;
const NO_DIGIT = 16;
const HEX_DIGITS: Readonly<Uint8Array> = Uint8Array.from({ length: 256 }, (_, code) => {
  const digit = Number.parseInt(String.fromCharCode(code), 16);
  return Number.isNaN(digit) ? NO_DIGIT : digit;
});

type ChunkState = "size" | "data" | "data-end" | "trailer" | "over";

/** Parses a chunked body from pieces of any length. Throws on any deviation from the standard. */
export class ChunkedBody {
  #part: ChunkState = "size";
  #line = "";
  #left = 0;
  #extensionBytes = 0;
  #trailerBytes = 0;

  get isOver(): boolean {
    return this.#part === "over";
  }

  reset(): void {
    this.#part = "size";
    this.#line = "";
    this.#left = 0;
    this.#extensionBytes = 0;
    this.#trailerBytes = 0;
  }

  /**
   * Parses `bytes` starting at `at`, and returns the end of the consumed bytes. Data of several chunks is moved
   * together within `bytes` and passed on as one piece, because a server may send one byte per chunk and each piece has
   * a cost.
   */
  take(bytes: Buffer, at: number, onData: (data: Buffer) => void): number {
    let from = 0;
    let to = 0;
    let next = at;
    while (next < bytes.length && !this.isOver) {
      if (this.#part !== "data") {
        next = this.#takeBetween(bytes, next);
        continue;
      }
      const start = next;
      next = this.#takeData(bytes, start);
      if (to === 0) from = to = start;
      if (to < start) bytes.copyWithin(to, start, next);
      to += next - start;
    }
    if (from < to) onData(bytes.subarray(from, to));
    return next;
  }

  #takeData(bytes: Buffer, at: number): number {
    const end = Math.min(bytes.length, at + this.#left);
    this.#left -= end - at;
    if (this.#left === 0) this.#part = "data-end";
    return end;
  }

  /** Parses the bytes between data: a line, or a part of one. */
  #takeBetween(bytes: Buffer, at: number): number {
    const plain = this.#line === "" ? this.#takePlain(bytes, at) : at;
    if (plain > at) return plain;
    const bound = this.#part === "trailer" ? MAX_TRAILER_BYTES - this.#trailerBytes : MAX_SIZE_LINE_BYTES;
    const end = this.#takeLine(bytes, at, bound);
    if (!this.#line.endsWith("\n")) return end;
    const line = this.#line;
    this.#line = "";
    if (this.#part === "size") this.#onSize(line);
    else if (this.#part === "data-end") this.#onDataEnd(line);
    else this.#onTrailer(line);
    return end;
  }

  /** Reads a complete size line without extensions. This fast path creates no string. */
  #takePlain(bytes: Buffer, at: number): number {
    if (this.#part === "data-end") {
      if (!endsLine(bytes, at)) return at;
      this.#part = "size";
      return at + 2;
    }
    if (this.#part !== "size") return at;
    let size = 0;
    let end = at;
    for (; end < at + MAX_PLAIN_DIGITS && end < bytes.length; end += 1) {
      const digit = HEX_DIGITS[bytes[end]!]!;
      if (digit === NO_DIGIT) break;
      size = size * 16 + digit;
    }
    if (end === at || !endsLine(bytes, end)) return at;
    this.#sized(size);
    return end + 2;
  }

  #takeLine(bytes: Buffer, at: number, bound: number): number {
    const found = bytes.indexOf(LINE_FEED, at);
    const end = found === -1 ? bytes.length : found + 1;
    if (this.#line.length + end - at > bound) throw notHttp("a line between its chunks is too long");
    this.#line += bytes.toString("latin1", at, end);
    if (this.#part === "data-end" && !"\r\n".startsWith(this.#line)) throw badEnd();
    return end;
  }

  #onSize(line: string): void {
    const [, digits, extension = ""] = SIZE_LINE.exec(line) ?? [];
    if (digits === undefined) throw notHttp("the size of a chunk is no number");
    this.#extensionBytes += extension.length;
    if (this.#extensionBytes > MAX_EXTENSION_BYTES) throw notHttp("its chunks have too many extensions");
    this.#sized(Number.parseInt(digits, 16));
  }

  #sized(bytes: number): void {
    this.#left = bytes;
    this.#part = bytes === 0 ? "trailer" : "data";
  }

  #onDataEnd(line: string): void {
    if (line !== "\r\n") throw badEnd();
    this.#part = "size";
  }

  #onTrailer(line: string): void {
    this.#trailerBytes += line.length;
    if (line === "\r\n") this.#part = "over";
    else if (!line.endsWith("\r\n") || !isField(line.slice(0, -2))) throw notHttp("a trailer is no header field");
  }
}

function endsLine(bytes: Buffer, at: number): boolean {
  return bytes[at] === CARRIAGE_RETURN && bytes[at + 1] === LINE_FEED;
}

function badEnd(): Error {
  return notHttp("a chunk does not end at its stated size");
}
