/** Position of a value in a TOML text. */
export interface TomlPlace {
  /** Complete path; entries of lists by index: `["mcp", "remote_servers", "0", "url"]`. */
  readonly path: readonly string[];
  /** `header`: a line in brackets. `pair`: a key with its value on its own lines. `inner`: a part of another value. */
  readonly kind: "header" | "pair" | "inner";
  /** Offset of the bracket, of the key, or of an entry without a key. */
  readonly start: number;
  /** Offset of the value; for a header, offset of its bracket. */
  readonly valueStart: number;
  /** Offset after the value or header, before spaces and a comment. */
  readonly end: number;
  /** Path of the header to which the value belongs; empty before the first header. */
  readonly table: readonly string[];
}

/** Parses a written key, such as `a."b.c"`, into its steps. */
export type ReadKey = (text: string) => readonly string[];

/** Returns the positions of all values of a valid TOML text, in text order. The parts of a value precede the value. */
export function readPlaces(text: string, readKey: ReadKey): readonly TomlPlace[] {
  const scanner = new Scanner(text, readKey);
  return scanner.read();
}

class Scanner {
  readonly #text: string;
  readonly #readKey: ReadKey;
  readonly #places: TomlPlace[] = [];
  /** Number of entries of each list of tables so far, by path. */
  readonly #counts = new Map<string, number>();
  #at = 0;
  #table: readonly string[] = [];

  constructor(text: string, readKey: ReadKey) {
    this.#text = text;
    this.#readKey = readKey;
  }

  read(): readonly TomlPlace[] {
    for (this.#skipTrivia(); this.#at < this.#text.length; this.#skipTrivia()) {
      if (this.#text[this.#at] === "[") this.#readHeader();
      else this.#readPair(this.#table, "pair");
    }
    return this.#places;
  }

  #readHeader(): void {
    const start = this.#at;
    const isList = this.#text.startsWith("[[", start);
    this.#at += isList ? 2 : 1;
    const keyStart = this.#at;
    this.#skipKey("]");
    const path = this.#headerPath(this.#readKey(this.#text.slice(keyStart, this.#at)), isList);
    this.#at += isList ? 2 : 1;
    this.#table = path;
    this.#places.push({ path, kind: "header", start, valueStart: start, end: this.#at, table: path });
  }

  /**
   * Returns the path of a header. A header that contains only the name of a list refers to the last entry of the list.
   */
  #headerPath(steps: readonly string[], isList: boolean): readonly string[] {
    const path: string[] = [];
    for (const [index, step] of steps.entries()) {
      path.push(step);
      const id = JSON.stringify(path);
      const count = this.#counts.get(id) ?? 0;
      if (isList && index === steps.length - 1) {
        this.#counts.set(id, count + 1);
        path.push(String(count));
      } else if (count > 0) path.push(String(count - 1));
    }
    return path;
  }

  #readPair(parent: readonly string[], kind: "pair" | "inner"): void {
    const start = this.#at;
    this.#skipKey("=");
    const path = [...parent, ...this.#readKey(this.#text.slice(start, this.#at))];
    this.#at += 1;
    this.#skipBlanks();
    this.#readValue({ path, kind, start });
  }

  #readValue({ path, kind, start }: Pick<TomlPlace, "path" | "kind" | "start">): void {
    const valueStart = this.#at;
    const first = this.#text[valueStart];
    if (first === "[") this.#readInner("]", (count) => this.#readEntry([...path, String(count)]));
    else if (first === "{") this.#readInner("}", () => this.#readPair(path, "inner"));
    else if (first === '"' || first === "'") this.#skipString();
    else this.#skipBare();
    this.#places.push({ path, kind, start, valueStart, end: this.#at, table: this.#table });
  }

  #readEntry(path: readonly string[]): void {
    this.#readValue({ path, kind: "inner", start: this.#at });
  }

  #readInner(close: string, readOne: (count: number) => void): void {
    this.#at += 1;
    for (let count = 0; ; count += 1) {
      this.#skipTrivia();
      if (this.#at >= this.#text.length || this.#text[this.#at] === close) break;
      readOne(count);
      this.#skipTrivia();
      if (this.#text[this.#at] === ",") this.#at += 1;
    }
    this.#at += 1;
  }

  #skipKey(until: string): void {
    while (this.#at < this.#text.length && this.#text[this.#at] !== until) {
      const character = this.#text[this.#at];
      if (character === '"' || character === "'") this.#skipString();
      else this.#at += 1;
    }
  }

  #skipString(): void {
    const quote = this.#text[this.#at]!;
    const mark = this.#text.startsWith(quote.repeat(3), this.#at) ? quote.repeat(3) : quote;
    this.#at += mark.length;
    while (this.#at < this.#text.length && !this.#text.startsWith(mark, this.#at))
      this.#at += quote === '"' && this.#text[this.#at] === "\\" ? 2 : 1;
    this.#at += mark.length;
    // A string with three quotes may end with one or two further quotes, which belong to it.
    while (mark.length === 3 && this.#text[this.#at] === quote) this.#at += 1;
  }

  #skipBare(): void {
    while (this.#at < this.#text.length && !/[,\]}#\r\n]/.test(this.#text[this.#at]!)) this.#at += 1;
    while (/[ \t]/.test(this.#text[this.#at - 1]!)) this.#at -= 1;
  }

  #skipBlanks(): void {
    while (this.#text[this.#at] === " " || this.#text[this.#at] === "\t") this.#at += 1;
  }

  /** Skips spaces, line breaks and comments. */
  #skipTrivia(): void {
    for (;;) {
      while (this.#at < this.#text.length && /[\s\uFEFF]/.test(this.#text[this.#at]!)) this.#at += 1;
      if (this.#text[this.#at] !== "#") return;
      const end = this.#text.indexOf("\n", this.#at);
      this.#at = end === -1 ? this.#text.length : end;
    }
  }
}
