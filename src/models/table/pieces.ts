const MAX_WORD_CHARS = 48;
/** Characters of a text that are read, from its beginning. */
const MAX_TEXT_CHARS = 32_768;
/** Words whose pieces are remembered. */
const MAX_KNOWN = 20_000;
const CAMEL_BORDER = /(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])/g;
const ASCII = /^\p{ASCII}*$/u;
const WORD = /[\p{L}\p{N}]+/gu;

/**
 * Cuts texts into the words and pieces of words (`##` before one that continues a word) that a table has rows of, the
 * longest first. `scripts/embeddings/wordpiece.py` cuts in the same way.
 */
export class Pieces {
  readonly #numbers: ReadonlyMap<string, number>;
  readonly #known = new Map<string, readonly number[]>();

  constructor(vocabulary: readonly string[]) {
    this.#numbers = new Map(vocabulary.map((piece, number) => [piece, number]));
  }

  /** Numbers of the pieces, `most` or a few more; words that the vocabulary cannot write are left out. */
  ofText(text: string, most: number): number[] {
    const found: number[] = [];
    for (const [word] of plainText(text.slice(0, MAX_TEXT_CHARS)).matchAll(WORD)) {
      for (const number of this.#ofWord(word)) found.push(number);
      if (found.length >= most) break;
    }
    return found;
  }

  #ofWord(word: string): readonly number[] {
    let pieces = this.#known.get(word);
    if (!pieces) {
      if (this.#known.size >= MAX_KNOWN) this.#known.clear();
      this.#known.set(word, (pieces = this.#cut(word.slice(0, MAX_WORD_CHARS))));
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
    const prefix = at === 0 ? "" : "##";
    for (let end = word.length; end > at; end -= 1) {
      const number = this.#numbers.get(prefix + word.slice(at, end));
      if (number !== undefined) return { number, end };
    }
    return { number: undefined, end: at };
  }
}

/** Lower-case, without accents, and apart what `camelCase` writes in one. */
function plainText(text: string): string {
  const spaced = text.replace(CAMEL_BORDER, " ");
  const plain = ASCII.test(spaced) ? spaced : spaced.normalize("NFKD").replaceAll(/\p{M}/gu, "");
  return plain.toLowerCase();
}
