import { notHttp } from "./fault.ts";
import { isField } from "./head.ts";

/** Of one line with a chunk's size. */
const MAX_SIZE_LINE_BYTES = 1024;
/** Of what stands beside the sizes of all chunks of one body: nobody here reads it. */
const MAX_EXTENSION_BYTES = 16 * 1024;
/** Of all that stands after the last chunk. Nobody here reads that either. */
const MAX_TRAILER_BYTES = 8 * 1024;

// 13 digits are no more than can be counted to.
const SIZE_LINE = /^([0-9A-Fa-f]{1,13})((?:;[\t\x20-\x7e\x80-\xff]*)?)\r\n$/;
const LINE_FEED = 0x0a;

type Part = "size" | "data" | "data-end" | "trailer" | "over";

/** Takes a body in chunks apart, wherever it is cut. Throws at whatever is not exactly as the standard says. */
export class ChunkedBody {
  #part: Part = "size";
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

  /** Takes one step from `at` on, and returns how far it came. */
  take(bytes: Buffer, at: number, onData: (data: Buffer) => void): number {
    if (this.#part === "data") return this.#takeData(bytes, at, onData);
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

  #takeData(bytes: Buffer, at: number, onData: (data: Buffer) => void): number {
    const end = Math.min(bytes.length, at + this.#left);
    this.#left -= end - at;
    if (this.#left === 0) this.#part = "data-end";
    onData(bytes.subarray(at, end));
    return end;
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
    this.#left = Number.parseInt(digits, 16);
    this.#part = this.#left === 0 ? "trailer" : "data";
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

function badEnd(): Error {
  return notHttp("a chunk does not end where its size says");
}
