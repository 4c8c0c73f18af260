import type { PageTexts } from "./page-texts.ts";
import { DE } from "./texts.de.ts";
import { EN } from "./texts.en.ts";
import { FR } from "./texts.fr.ts";

const LANGUAGES: readonly PageTexts[] = [EN, DE, FR];
/** Maximum number of languages that are read from `Accept-Language`. */
const MAX_LANGUAGES = 10;

/** Returns the texts in the language that a browser prefers, or in English if no preferred language is available. */
export function textsFor(acceptLanguage = ""): PageTexts {
  const wanted = acceptLanguage
    .split(",", MAX_LANGUAGES)
    .map((part) => {
      const [tag = "", ...parameters] = part.trim().toLowerCase().split(";");
      const quality = parameters.map((one) => /^\s*q=([0-9.]+)$/.exec(one)?.[1]).find((one) => one !== undefined);
      return { language: tag.split("-")[0], quality: quality === undefined ? 1 : Number(quality) };
    })
    .filter(({ quality }) => quality > 0)
    .toSorted((one, other) => other.quality - one.quality);
  for (const { language } of wanted) {
    const texts = LANGUAGES.find((one) => one.language === language);
    if (texts) return texts;
  }
  return EN;
}

/** Replaces each `{name}` by its value. */
export function fill(text: string, values: Readonly<Record<string, string>>): string {
  return text.replace(/\{(\w+)\}/g, (whole, name: string) => values[name] ?? whole);
}
