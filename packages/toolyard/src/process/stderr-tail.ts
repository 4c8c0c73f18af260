import { StringDecoder } from "node:string_decoder";

export interface StderrTailOptions {
  /** Maximum number of lines that are kept. @default 40 */
  readonly maxLines?: number;
  /** Maximum number of characters of one line; longer lines are truncated and marked. @default 2000 */
  readonly maxLineChars?: number;
  /** Called with every whole line, truncated at `maxLineChars`. */
  readonly onLine?: (line: string) => void;
}

/** Keeps the last lines of a child's stderr, limited in number and length. Accepts any bytes. */
export class StderrTail {
  readonly #maxLines: number;
  readonly #maxLineChars: number;
  readonly #onLine: ((line: string) => void) | undefined;
  readonly #decoder = new StringDecoder("utf8");
  #lines: string[] = [];
  #partial = "";
  #cut = 0;

  constructor({ maxLines = 40, maxLineChars = 2000, onLine }: StderrTailOptions = {}) {
    this.#maxLines = maxLines;
    this.#maxLineChars = maxLineChars;
    this.#onLine = onLine;
  }

  push(chunk: Buffer): void {
    this.#take(this.#decoder.write(chunk));
  }

  /** Ends the last line if it has no line break. Call it when the stream ends. */
  flush(): void {
    this.#take(this.#decoder.end());
    if (this.#partial !== "") this.#endLine();
  }

  /** Returns the kept lines, oldest first, including the unfinished last one. */
  lines(): readonly string[] {
    const all = this.#partial === "" ? this.#lines : [...this.#lines, this.#current()];
    return all.slice(-this.#maxLines);
  }

  text(): string {
    return this.lines().join("\n");
  }

  #take(text: string): void {
    let start = 0;
    for (let end = text.indexOf("\n"); end !== -1; end = text.indexOf("\n", start)) {
      this.#hold(text, start, end);
      this.#endLine();
      start = end + 1;
    }
    this.#hold(text, start, text.length);
  }

  #hold(text: string, start: number, end: number): void {
    const room = Math.max(0, this.#maxLineChars - this.#partial.length);
    const taken = Math.min(room, end - start);
    this.#partial += text.slice(start, start + taken);
    this.#cut += end - start - taken;
  }

  #current(): string {
    return this.#cut > 0 ? `${this.#partial}… (${this.#cut} more characters)` : this.#partial;
  }

  #endLine(): void {
    const line = this.#current().replace(/\r$/, "");
    this.#partial = "";
    this.#cut = 0;
    this.#lines.push(line);
    // Lines are removed only at twice the limit, so that the array is not moved for each line.
    if (this.#lines.length >= this.#maxLines * 2) this.#lines = this.#lines.slice(-this.#maxLines);
    this.#onLine?.(line);
  }
}
