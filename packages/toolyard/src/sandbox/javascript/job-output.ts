type ConsoleStream = "stdout" | "stderr";

/** Output is flushed at this size, and whenever the code pauses: one message per line would cost more than the line. */
const FLUSH_CHARS = 16_384;
const FLUSH_AFTER_MS = 50;

/** Output of a run, up to its limit. */
export class JobOutput {
  isTruncated = false;
  readonly #write: (stream: ConsoleStream, text: string) => void;
  #leftBytes: number;
  #stream: ConsoleStream = "stdout";
  #held: string[] = [];
  #heldChars = 0;
  #flushedAt = performance.now();

  #promptPieces: number;

  /**
   * `promptPieces`: number of pieces that are written immediately, for engines whose buffered output is lost when the
   * code is ended.
   */
  constructor(maxBytes: number, write: (stream: ConsoleStream, text: string) => void, promptPieces = 0) {
    this.#promptPieces = promptPieces;
    this.#leftBytes = maxBytes;
    this.#write = write;
  }

  print(stream: ConsoleStream, text: string): void {
    if (stream !== this.#stream) this.flush();
    this.#stream = stream;
    const fitting = this.#fit(text);
    if (fitting === "") return;
    this.#held.push(fitting);
    this.#heldChars += fitting.length;
    this.#promptPieces -= 1;
    if (
      this.#promptPieces >= 0 ||
      this.#heldChars >= FLUSH_CHARS ||
      performance.now() - this.#flushedAt > FLUSH_AFTER_MS
    )
      this.flush();
  }

  flush(): void {
    this.#flushedAt = performance.now();
    if (this.#held.length === 0) return;
    const text = this.#held.join("");
    this.#held = [];
    this.#heldChars = 0;
    this.#write(this.#stream, text);
  }

  #fit(text: string): string {
    const bytes = Buffer.byteLength(text);
    if (bytes <= this.#leftBytes) {
      this.#leftBytes -= bytes;
      return text;
    }
    this.isTruncated = true;
    const fitting = cut(text, this.#leftBytes);
    this.#leftBytes = 0;
    return fitting;
  }
}

/** Truncates a text to at most this many bytes, without splitting a character. */
function cut(text: string, bytes: number): string {
  const buffer = Buffer.from(text.slice(0, bytes));
  let end = Math.min(bytes, buffer.length);
  while (end > 0 && end < buffer.length && (buffer[end]! & 0xc0) === 0x80) end -= 1;
  return buffer.toString("utf8", 0, end);
}
