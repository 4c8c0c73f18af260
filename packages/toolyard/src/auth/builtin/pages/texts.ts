import { preferredLanguage } from "../../../core/text/preferred-language.ts";
import type { PageTexts } from "./page-texts.ts";
import { DE } from "./texts.de.ts";
import { EN } from "./texts.en.ts";
import { FR } from "./texts.fr.ts";

const LANGUAGES: readonly PageTexts[] = [EN, DE, FR];

/** Returns the texts in the language that a browser prefers, or in English if no preferred language is available. */
export function textsFor(acceptLanguage = ""): PageTexts {
  const names = LANGUAGES.map(({ language }) => language);
  const preferred = preferredLanguage(acceptLanguage, names);
  return LANGUAGES.find(({ language }) => language === preferred) ?? EN;
}

/** Replaces each `{name}` by its value. */
export function fill(text: string, values: Readonly<Record<string, string>>): string {
  return text.replace(/\{(\w+)\}/g, (whole, name: string) => values[name] ?? whole);
}
