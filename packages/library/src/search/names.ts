import { folded } from "./terms.ts";

/** A person's name as it is compared: «Peirce, Charles Sanders» is «charles sanders peirce». */
export function authorKey(name: string): string {
  const [last = "", ...first] = name.split(",");
  return plainWords(first.length === 1 ? `${first[0]} ${last}` : name);
}

/** A title as it is compared: without accents, marks and capitals. */
export function plainWords(text: string): string {
  return folded(text.normalize("NFKC").toLowerCase())
    .replaceAll(/[^\p{L}\p{N}]+/gu, " ")
    .trim();
}

/** A word of an author filter, and its initial if it is more than one. */
export interface AuthorWord {
  readonly word: string;
  /** The word is an initial, which every word with that letter matches; else the letter alone matches it. */
  readonly isInitial: boolean;
}

/**
 * Returns the words that an author's key must have: «C. S. Peirce» and «Peirce, Charles Sanders» match each other.
 * Undefined if the filter has no letters, and so matches no author.
 */
export function authorFilter(name: string): readonly AuthorWord[] | undefined {
  const words = authorKey(name).split(" ").filter(Boolean);
  return words.length === 0 ? undefined : words.map((word) => ({ word, isInitial: isInitial(word) }));
}

/** Returns whether an author's key has these words, in any order. */
export function hasAuthor(key: string, words: readonly AuthorWord[]): boolean {
  const own = key.split(" ");
  return words.every(({ word, isInitial: alone }) =>
    own.some(
      (other) => other === word || (alone ? other.startsWith(word) : isInitial(other) && word.startsWith(other)),
    ),
  );
}

/** Returns whether a title has these words next to one another. */
export function hasTitlePart(key: string, part: string): boolean {
  return ` ${key} `.includes(` ${plainWords(part)} `);
}

function isInitial(word: string): boolean {
  return word.length === 1 && /\p{L}/u.test(word);
}
