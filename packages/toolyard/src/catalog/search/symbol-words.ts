import { firstChars } from "../../core/text/truncate.ts";

/** Longest text that is searched for signs, and longest sign, in characters. */
const MAX_TEXT_LENGTH = 2000;
const MAX_SIGN_LENGTH = 48;
/** Most signs of one text. */
const MAX_SIGNS = 32;

/** Variation selectors and skin tones do not change which emoji is meant. */
const VARIANTS = /\p{Emoji_Modifier}|\ufe0e|\ufe0f/gu;
const LETTER_OR_DIGIT = /[\p{L}\p{N}]/u;
/** Flags, other emoji and signs of currencies. */
const SINGLE_SIGNS = /\p{RI}\p{RI}|\p{Extended_Pictographic}|\p{Sc}/gu;
/** Part of ordinary texts. */
const MARKS_OF_TRADE = /[©®™℠]/gu;
/** Signs with a meaning after a word: `c++`, `c#`. */
const WORD_WITH_SIGN = /(?<![\p{L}\p{N}])\p{L}[\p{L}\p{N}]{0,40}(?:\+\+|#)(?![\p{L}\p{N}+#])/gu;

/**
 * Returns the distinct words of a text that contain signs, in lower case: `€`, `🎉`, `=>`, `c++`. Words of letters and
 * digits alone are not among them.
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

function signsIn(token: string): readonly string[] {
  if (token === "") return [];
  const singles = token.match(SINGLE_SIGNS) ?? [];
  if (LETTER_OR_DIGIT.test(token)) return [...(token.toLowerCase().match(WORD_WITH_SIGN) ?? []), ...singles];
  return [firstChars(token, MAX_SIGN_LENGTH), ...singles];
}
