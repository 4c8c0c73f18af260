import { franc } from "franc-min";
import { SHORT_CODES } from "./language-codes.ts";

export type Stem = (word: string) => string;
type StemModule = { readonly stemmer: Stem };

/** Stemmers by ISO 639-1 code. Words of other languages are not stemmed. */
const STEMMERS: Readonly<Record<string, () => Promise<StemModule>>> = {
  da: () => import("@orama/stemmers/danish"),
  de: () => import("@orama/stemmers/german"),
  en: () => import("@orama/stemmers/english"),
  es: () => import("@orama/stemmers/spanish"),
  fi: () => import("@orama/stemmers/finnish"),
  fr: () => import("@orama/stemmers/french"),
  hu: () => import("@orama/stemmers/hungarian"),
  it: () => import("@orama/stemmers/italian"),
  nl: () => import("@orama/stemmers/dutch"),
  no: () => import("@orama/stemmers/norwegian"),
  pt: () => import("@orama/stemmers/portuguese"),
  ro: () => import("@orama/stemmers/romanian"),
  ru: () => import("@orama/stemmers/russian"),
  sv: () => import("@orama/stemmers/swedish"),
  tr: () => import("@orama/stemmers/turkish"),
};

/** Number of characters used for language detection. More text does not improve the result. */
const LOOKED_AT = 2_000;
/**
 * Minimum length of a line, in characters. Shorter text is detected wrongly: «nominalisme» alone is taken for Slovak.
 */
const MIN_LENGTH = 60;

/** Returns the language of a document as ISO 639-1; undefined if it is uncertain. */
export function languageOf(text: string): string | undefined {
  const start = Math.max(0, Math.floor((text.length - LOOKED_AT) / 2));
  return SHORT_CODES[franc(text.slice(start, start + LOOKED_AT), { minLength: MIN_LENGTH })];
}

/** Returns the stemmer of a language. For a language without a stemmer it returns words unchanged. */
export async function stemOf(language: string): Promise<Stem> {
  const load = Object.hasOwn(STEMMERS, language) ? STEMMERS[language] : undefined;
  return load ? (await load()).stemmer : (word) => word;
}
