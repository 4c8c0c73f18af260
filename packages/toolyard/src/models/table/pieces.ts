import { firstChars } from "../../core/text/truncate.ts";
const MAX_WORD_CHARS = 48;
/** Maximum number of characters of a text that are read, from its beginning. */
const MAX_TEXT_CHARS = 32_768;
/** Maximum number of words with cached pieces. */
const MAX_KNOWN = 20_000;
const CAMEL_BORDER = /(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])/g;
const ASCII = /^\p{ASCII}*$/u;
const WORD = /[\p{L}\p{N}]+/gu;
const LINE_END = 10;

/** Initial FNV-1a hashes: of a piece at the start of a word, and of a piece that continues a word (after `##`). */
const WHOLE = 0x811c9dc5;
const INNER = hashed(hashed(WHOLE, 35), 35);
const INNER_PREFIX_BYTES = 2;

/**
 * Splits texts into words and word pieces (with `##` before a piece that continues a word) that have rows in a table,
 * longest first. `scripts/embeddings/wordpiece.py` splits in the same way. The pieces are stored as bytes: tens of
 * thousands of strings or map entries would need too much memory.
 */
export class Pieces {
  /** Number of pieces. */
  readonly count: number;
  readonly #bytes: Uint8Array;
  /** Start offset of each piece, by number; the last entry is the end. */
  readonly #starts: Uint32Array;
  /** Hash table with the number of a piece plus one; 0 for empty slots. */
  readonly #slots: Uint32Array;
  readonly #known = new Map<string, readonly number[]>();
  /** Hashes of the prefixes of the current word. */
  readonly #hashes = new Uint32Array(MAX_WORD_CHARS + 1);

  /**
   * @param lines One piece per line, in Latin-1.
   * @param most Maximum number of lines that are read.
   */
  constructor(lines: Uint8Array, most: number) {
    this.#bytes = lines;
    this.#starts = new Uint32Array(most + 1);
    this.#slots = new Uint32Array(2 ** Math.ceil(Math.log2(2 * most + 1)));
    this.count = this.#read(lines, most);
  }

  /**
   * Returns the numbers of the pieces in a text, `most` or slightly more. Skips words that the vocabulary cannot
   * represent.
   */
  ofText(text: string, most: number): number[] {
    const found: number[] = [];
    for (const [word] of plainText(firstChars(text, MAX_TEXT_CHARS)).matchAll(WORD)) {
      for (const number of this.#ofWord(word)) found.push(number);
      if (found.length >= most) break;
    }
    return found;
  }

  #read(lines: Uint8Array, most: number): number {
    let count = 0;
    let hash = WHOLE;
    for (let at = 0; at <= lines.length && count < most; at += 1) {
      const byte = at < lines.length ? lines[at]! : LINE_END;
      if (byte !== LINE_END) {
        hash = hashed(hash, byte);
        continue;
      }
      this.#keep(count, hash);
      this.#starts[(count += 1)] = at + 1;
      hash = WHOLE;
    }
    return count;
  }

  #keep(number: number, hash: number): void {
    const mask = this.#slots.length - 1;
    let slot = hash & mask;
    while (this.#slots[slot] !== 0) slot = (slot + 1) & mask;
    this.#slots[slot] = number + 1;
  }

  #ofWord(word: string): readonly number[] {
    let pieces = this.#known.get(word);
    if (!pieces) {
      if (this.#known.size >= MAX_KNOWN) this.#known.clear();
      this.#known.set(word, (pieces = this.#cut(firstChars(word, MAX_WORD_CHARS))));
    }
    return pieces;
  }

  #cut(word: string): readonly number[] {
    const found: number[] = [];
    for (let at = 0; at < word.length;) {
      const { number, end } = this.#longest(word, at);
      if (number === undefined) return [];
      found.push(number);
      at = end;
    }
    return found;
  }

  #longest(word: string, at: number): { readonly number: number | undefined; readonly end: number } {
    let hash = at === 0 ? WHOLE : INNER;
    for (let end = at + 1; end <= word.length; end += 1)
      this.#hashes[end] = hash = hashed(hash, word.charCodeAt(end - 1));
    for (let end = word.length; end > at; end -= 1) {
      const number = this.#find(word, at, end);
      if (number !== undefined) return { number, end };
    }
    return { number: undefined, end: at };
  }

  #find(word: string, at: number, end: number): number | undefined {
    const mask = this.#slots.length - 1;
    for (let slot = this.#hashes[end]! & mask; this.#slots[slot] !== 0; slot = (slot + 1) & mask) {
      const number = this.#slots[slot]! - 1;
      if (this.#is(number, word, { at, end })) return number;
    }
    return undefined;
  }

  #is(number: number, word: string, { at, end }: { readonly at: number; readonly end: number }): boolean {
    const prefix = at === 0 ? 0 : INNER_PREFIX_BYTES;
    const begin = this.#starts[number]! + prefix;
    if (this.#starts[number + 1]! - 1 - begin !== end - at) return false;
    for (let of = at; of < end; of += 1) if (this.#bytes[begin + of - at] !== word.charCodeAt(of)) return false;
    return prefix === 0 || (this.#bytes[begin - 1] === 35 && this.#bytes[begin - 2] === 35);
  }
}

function hashed(hash: number, code: number): number {
  return Math.imul(hash ^ code, 0x01000193) >>> 0;
}

/** Returns lower-case text without accents, with the parts of `camelCase` separated. */
function plainText(text: string): string {
  const isAscii = ASCII.test(text);
  const lower = text.toLowerCase();
  if (isAscii && lower === text) return text;
  const spaced = text.replace(CAMEL_BORDER, " ");
  const plain = isAscii ? spaced : spaced.normalize("NFKD").replaceAll(/\p{M}/gu, "");
  return plain.toLowerCase();
}
