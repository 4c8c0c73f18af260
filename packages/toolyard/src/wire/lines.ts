import { GatheredBytes } from "../core/gathered-bytes.ts";

/**
 * Splits a byte stream into lines at `\n`; a `\r` before it is removed. Bytes are joined before they are decoded, so
 * that a character across two chunks stays whole. A line over the limit is reported once, and skipped to its end
 * without being stored.
 */
export class LineDecoder {
  readonly #maxLineBytes: number;
  readonly #handlers: LineHandlers;
  #head = "";
  #tail = EMPTY;
  readonly #line = new GatheredBytes();
  /** Number of bytes of the current line, stored or skipped. */
  #held = 0;
  #skipping = false;

  constructor(maxLineBytes: number, handlers: LineHandlers) {
    this.#maxLineBytes = maxLineBytes;
    this.#handlers = handlers;
  }

  /** Adds data of the stream. Bound to this object, so that it can be a listener of the stream. */
  readonly push = (chunk: Buffer): void => {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE, start); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      const part = chunk.subarray(start, end);
      // Most lines arrive whole.
      if (this.#held === 0 && part.length <= this.#maxLineBytes) this.#passOn(part);
      else {
        this.#keep(part);
        this.#endLine();
      }
      start = end + 1;
    }
    if (start < chunk.length) this.#keep(chunk.subarray(start));
  };

  /** Passes on the text after the last line break, if there is any. Must be called at the end of the stream. */
  flush(): void {
    if (this.#held > 0 || this.#skipping) this.#endLine();
  }

  #keep(part: Buffer): void {
    this.#held += part.length;
    if (this.#skipping) return this.#keepTail(part);
    if (this.#held > this.#maxLineBytes) {
      const edges = [this.#line.head(EDGE_BYTES), part.subarray(0, EDGE_BYTES)];
      this.#head = Buffer.concat(edges).toString("utf8", 0, EDGE_BYTES);
      this.#keepTail(part);
      this.#line.clear();
      this.#skipping = true;
      this.#handlers.onTooLong?.(this.#held);
      return;
    }
    if (part.length > 0) this.#line.push(part);
  }

  #keepTail(part: Buffer): void {
    this.#tail =
      part.length >= EDGE_BYTES
        ? Buffer.from(part.subarray(-EDGE_BYTES))
        : Buffer.concat([this.#tail, part]).subarray(-EDGE_BYTES);
  }

  #endLine(): void {
    if (this.#skipping) return this.#endSkipped();
    this.#held = 0;
    this.#passOn(this.#line.take());
  }

  #passOn(bytes: Buffer): void {
    const end = bytes.length > 0 && bytes[bytes.length - 1] === CARRIAGE_RETURN ? bytes.length - 1 : bytes.length;
    this.#handlers.onLine(bytes.toString("utf8", 0, end));
  }

  #endSkipped(): void {
    const line = { bytes: this.#held, head: this.#head, tail: this.#tail.toString("utf8") };
    this.#held = 0;
    this.#skipping = false;
    this.#head = "";
    this.#tail = EMPTY;
    this.#handlers.onSkipped?.(line);
  }
}

export interface LineHandlers {
  onLine(line: string): void;
  /** Called when a line exceeds the limit; its rest has not arrived yet. */
  onTooLong?(bytesSeen: number): void;
  /** Called at the end of a line over the limit. */
  onSkipped?(line: SkippedLine): void;
}

/** Facts about a line that was too long. */
export interface SkippedLine {
  readonly bytes: number;
  /** Start and end of the line, at most 512 bytes each. */
  readonly head: string;
  readonly tail: string;
}

const EDGE_BYTES = 512;
const NEWLINE = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const EMPTY = Buffer.alloc(0);
