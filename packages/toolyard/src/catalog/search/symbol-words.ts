import { firstChars } from "../../core/text/truncate.ts";

/** Maximum length of a text that is searched for symbols, and of a word with symbols, in characters. */
const MAX_TEXT_LENGTH = 2000;
const MAX_SIGN_LENGTH = 48;
/** Maximum number of words with symbols in one text. */
const MAX_SIGNS = 32;

/** Variation selectors and skin tones, which do not change the meaning of an emoji. */
const VARIANTS = /\p{Emoji_Modifier}|\ufe0e|\ufe0f/gu;
const LETTER_OR_DIGIT = /[\p{L}\p{N}]/u;
/** Flags, other emoji and currency symbols. */
const SINGLE_SIGNS = /\p{RI}\p{RI}|\p{Extended_Pictographic}|\p{Sc}/gu;
/** Trademark and copyright symbols, which are part of ordinary texts. */
const MARKS_OF_TRADE = /[©®™℠]/gu;
/** Symbols with a meaning after a word: `c++`, `c#`. */
const WORD_WITH_SIGN = /(?<![\p{L}\p{N}])\p{L}[\p{L}\p{N}]{0,40}(?:\+\+|#)(?![\p{L}\p{N}+#])/gu;

/**
 * Returns the distinct words of a text that contain symbols, in lower case: `€`, `🎉`, `=>`, `c++`. Does not return
 * words that consist of letters and digits only.
 */
export function symbolWords(text: string): string[] {
  const found = new Set<string>();
  for (const token of firstChars(text, MAX_TEXT_LENGTH).replaceAll(VARIANTS, "").split(/\s/u)) {
    for (const word of signsIn(token.replaceAll(MARKS_OF_TRADE, ""))) {
      if (found.size === MAX_SIGNS) return [...found];
      found.add(word);
    }
  }
  return [...found];
}

/**
 * Returns the distinct symbols of a prose text that have a meaning: emojis, currency symbols, and words such as `c++`
 * in lower case. Omits runs of other signs, because in prose they are punctuation or markup.
 */
export function proseSymbols(text: string): string[] {
  const plain = firstChars(text, MAX_TEXT_LENGTH).replaceAll(VARIANTS, "").replaceAll(MARKS_OF_TRADE, "");
  const words = plain.toLowerCase().match(WORD_WITH_SIGN) ?? [];
  return Array.from(new Set([...words, ...(plain.match(SINGLE_SIGNS) ?? [])])).slice(0, MAX_SIGNS);
}

function signsIn(token: string): readonly string[] {
  if (token === "") return [];
  const singles = token.match(SINGLE_SIGNS) ?? [];
  if (LETTER_OR_DIGIT.test(token)) return [...(token.toLowerCase().match(WORD_WITH_SIGN) ?? []), ...singles];
  return [firstChars(token, MAX_SIGN_LENGTH), ...singles];
}
