import { editDistance } from "../../core/text/suggest.ts";

const STEP = 64;

/** Finds similar words in a vocabulary. A search in tens of thousands of words takes well under a millisecond. */
export class Vocabulary {
  /** All words, separated by line breaks. One native search finds every word that starts with a text or contains it. */
  readonly #text: string;
  readonly #byLength = new Map<number, { readonly word: string; readonly letters: number }[]>();

  private constructor(words: ReadonlySet<string>) {
    this.#text = `\n${[...words].join("\n")}\n`;
  }

  /** Builds the vocabulary in steps: first reads the lists, then adds the words. */
  static *steps(lists: Iterable<readonly string[]>): Generator<void, Vocabulary> {
    const words = new Set<string>();
    let count = 0;
    for (const list of lists) {
      for (const word of list) words.add(word);
      if ((count += 1) % STEP === 0) yield;
    }
    const vocabulary = new Vocabulary(words);
    for (const word of words) {
      vocabulary.#add(word);
      if ((count += 1) % STEP === 0) yield;
    }
    return vocabulary;
  }

  #add(word: string): void {
    const row = { word, letters: lettersOf(word) };
    const list = this.#byLength.get(word.length);
    if (list) list.push(row);
    else this.#byLength.set(word.length, [row]);
  }

  /** Returns at most `limit` words that start with `word`, in no particular order. */
  startingWith(word: string, limit: number): string[] {
    return this.#find(`\n${word}`, limit);
  }

  holding(word: string, limit: number): string[] {
    return this.#find(word, limit);
  }

  /** Returns at most `most` words with the fewest typing errors. */
  near(word: string, most: number): string[] {
    const letters = lettersOf(word);
    let least = most;
    let found: string[] = [];
    for (let length = word.length - most; length <= word.length + most; length += 1) {
      for (const other of this.#byLength.get(length) ?? []) {
        // One typing error changes at most two letters in the set of letters of a word, so other words are skipped.
        if (bits(letters ^ other.letters) > 2 * least) continue;
        const distance = editDistance(word, other.word, least);
        if (distance > least) continue;
        if (distance < least) [least, found] = [distance, []];
        found.push(other.word);
      }
    }
    return found;
  }

  #find(part: string, limit: number): string[] {
    const found = new Set<string>();
    for (let at = this.#text.indexOf(part); at >= 0 && found.size < limit;) {
      const start = part.startsWith("\n") ? at + 1 : this.#text.lastIndexOf("\n", at) + 1;
      const end = this.#text.indexOf("\n", start);
      found.add(this.#text.slice(start, end));
      at = this.#text.indexOf(part, end);
    }
    return [...found];
  }
}

/** Returns the letters of a word as a set of 32 bits. Letters whose codes are equal modulo 32 share a bit. */
function lettersOf(word: string): number {
  let set = 0;
  for (let at = 0; at < word.length; at += 1) set |= 1 << (word.charCodeAt(at) & 31);
  return set;
}

function bits(set: number): number {
  let rest = set - ((set >>> 1) & 0x55555555);
  rest = (rest & 0x33333333) + ((rest >>> 2) & 0x33333333);
  return (((rest + (rest >>> 4)) & 0x0f0f0f0f) * 0x01010101) >>> 24;
}
