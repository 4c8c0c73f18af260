/**
 * Cuts a byte stream into lines at `\n` (a `\r` before it is dropped). Bytes are joined before they are decoded, so a character
 * cut at a chunk border arrives whole. A line over the bound is reported once and skipped to its end without being kept.
 */
export class LineDecoder {
  readonly #maxLineBytes: number;
  readonly #onLine: (line: string) => void;
  readonly #onTooLong: (bytesSeen: number) => void;
  #parts: Buffer[] = [];
  #held = 0;
  #skipping = false;

  constructor(maxLineBytes: number, onLine: (line: string) => void, onTooLong: (bytesSeen: number) => void) {
    this.#maxLineBytes = maxLineBytes;
    this.#onLine = onLine;
    this.#onTooLong = onTooLong;
  }

  push(chunk: Buffer): void {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE, start); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      this.#keep(chunk.subarray(start, end));
      this.#endLine();
      start = end + 1;
    }
    if (start < chunk.length) this.#keep(chunk.subarray(start));
  }

  /** Hands over what follows the last line break, if anything. Call it when the stream ends. */
  flush(): void {
    if (this.#held > 0 || this.#skipping) this.#endLine();
  }

  #keep(part: Buffer): void {
    if (this.#skipping) return;
    this.#held += part.length;
    if (this.#held > this.#maxLineBytes) {
      this.#parts = [];
      this.#skipping = true;
      this.#onTooLong(this.#held);
      return;
    }
    if (part.length > 0) this.#parts.push(part);
  }

  #endLine(): void {
    const { length } = this.#parts;
    const bytes = length === 1 ? this.#parts[0]! : length === 0 ? EMPTY : Buffer.concat(this.#parts, this.#held);
    const skipped = this.#skipping;
    this.#parts = [];
    this.#held = 0;
    this.#skipping = false;
    if (skipped) return;
    const end = bytes.length > 0 && bytes[bytes.length - 1] === CARRIAGE_RETURN ? bytes.length - 1 : bytes.length;
    this.#onLine(bytes.toString("utf8", 0, end));
  }
}

const NEWLINE = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const EMPTY = Buffer.alloc(0);
