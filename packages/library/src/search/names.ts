import { folded } from "./terms.ts";

/** Returns the normalised form of an author's name: «Peirce, Charles Sanders» becomes «charles sanders peirce». */
export function authorKey(name: string): string {
  const [last = "", ...first] = name.split(",");
  return plainWords(first.length === 1 ? `${first[0]} ${last}` : name);
}

/** Returns the normalised form of a title: without accents, punctuation and capitals. */
export function plainWords(text: string): string {
  return folded(text.normalize("NFKC").toLowerCase())
    .replaceAll(/[^\p{L}\p{N}]+/gu, " ")
    .trim();
}

/** A word of an author filter, and its first letter if the word has more letters. */
export interface AuthorWord {
  readonly word: string;
  /**
   * True if the word is an initial, which matches every name that begins with that letter. If false, a single-letter
   * name matches the word too.
   */
  readonly isInitial: boolean;
}

/**
 * Returns the words that an author's key must contain: «C. S. Peirce» and «Peirce, Charles Sanders» match each other.
 * Undefined if the filter contains no letters, and therefore matches no author.
 */
export function authorFilter(name: string): readonly AuthorWord[] | undefined {
  const words = authorKey(name).split(" ").filter(Boolean);
  return words.length === 0 ? undefined : words.map((word) => ({ word, isInitial: isInitial(word) }));
}

/** Returns whether an author's key contains these words, in any order. */
export function hasAuthor(key: string, words: readonly AuthorWord[]): boolean {
  const own = key.split(" ");
  return words.every(({ word, isInitial: alone }) =>
    own.some(
      (other) => other === word || (alone ? other.startsWith(word) : isInitial(other) && word.startsWith(other)),
    ),
  );
}

/** Returns whether a title contains these words next to each other. */
export function hasTitlePart(key: string, part: string): boolean {
  return ` ${key} `.includes(` ${plainWords(part)} `);
}

function isInitial(word: string): boolean {
  return word.length === 1 && /\p{L}/u.test(word);
}
