import type { Terms } from "./terms.ts";

/** The fields of a passage that are indexed. */
export interface IndexedPassage {
  readonly author?: string | undefined;
  readonly title: string;
  readonly section: readonly string[];
  readonly text: string;
}

/** Weights of the other fields: a word in the author's name counts as three words in the text. */
const AUTHOR_WEIGHT = 3;
const TITLE_WEIGHT = 2;
const SECTION_WEIGHT = 2;

/**
 * Returns the terms by which a passage is found. A passage often names its subject only in the titles above it, and
 * does not name its author. The terms of these fields are repeated, which gives them the same weight in every store.
 * The length counts each term once.
 */
export function passageTerms(
  { author = "", title, section, text }: IndexedPassage,
  { terms, language }: { readonly terms: Terms; readonly language: string | undefined },
): { readonly terms: string; readonly length: number } {
  // The title of a document is often also its first heading.
  const headings = section.filter((heading) => heading !== title);
  const fields = [
    { own: terms.indexed(author, language), weight: AUTHOR_WEIGHT },
    { own: terms.indexed(title, language), weight: TITLE_WEIGHT },
    { own: terms.indexed(headings.join("\n"), language), weight: SECTION_WEIGHT },
    { own: terms.indexed(text, language), weight: 1 },
  ];
  return {
    terms: fields.flatMap(({ own, weight }) => Array.from({ length: weight }, () => own).flat()).join(" "),
    length: fields.reduce((sum, { own }) => sum + own.length, 0),
  };
}
