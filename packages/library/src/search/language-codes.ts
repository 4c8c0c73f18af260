/** Maps ISO 639-3 codes of the language detection to ISO 639-1. */
export const SHORT_CODES: Readonly<Record<string, string>> = {
  ara: "ar",
  cmn: "zh",
  ces: "cs",
  dan: "da",
  deu: "de",
  ell: "el",
  eng: "en",
  fin: "fi",
  fra: "fr",
  heb: "he",
  hun: "hu",
  ita: "it",
  jpn: "ja",
  kor: "ko",
  nld: "nl",
  nob: "no",
  pol: "pl",
  por: "pt",
  ron: "ro",
  rus: "ru",
  spa: "es",
  swe: "sv",
  tur: "tr",
  ukr: "uk",
};

/** Returns the ISO 639-1 code of `fr-FR`, `FR` or `fr`; undefined for anything else. */
export function languageCode(tag: string): string | undefined {
  const [code = ""] = tag.trim().toLowerCase().split(/[-_]/);
  return /^[a-z]{2}$/.test(code) ? code : SHORT_CODES[code];
}

/** Maps ISO 639-1 codes to ISO 639-3. */
export const LONG_CODES: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(SHORT_CODES).map(([long, short]) => [short, long]),
);
