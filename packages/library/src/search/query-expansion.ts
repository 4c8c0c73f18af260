import { isStopWord } from "./stop-words.ts";
import type { TermGroup, WeightedTerm } from "./term-group.ts";
import { folded, wordsOf, type QueryTerms, type Terms } from "./terms.ts";
import { loadTranslations, type Translations } from "./translations.ts";

/** A query in the words of another language. */
interface TranslatedQuery {
  /** Language of the passages to search, as ISO 639-1. */
  readonly language: string;
  readonly groups: readonly TermGroup[];
}

export interface ExpandedQuery extends QueryTerms {
  readonly translations: readonly TranslatedQuery[];
}

interface QuerySource {
  readonly terms: Terms;
  /** Languages of the library. */
  readonly languages: readonly string[];
}

/**
 * Returns the terms of a query with their synonyms, and the query in the other languages of the library. Without a
 * dictionary between these languages, returns the terms alone.
 */
export async function expandQuery(query: string, source: QuerySource): Promise<ExpandedQuery> {
  const found = source.terms.ofQuery(query, source.languages);
  const translations = await loadTranslations(source.languages);
  if (!translations) return { ...found, translations: [] };
  const dictionary = { ...source, translations };
  const likely = found.language === undefined ? likelyLanguages(query, dictionary) : [found.language];
  return {
    ...found,
    groups:
      likely.length === 1 ? withSynonyms(found.groups, query, { ...dictionary, language: likely[0]! }) : found.groups,
    translations: likely.flatMap((language) =>
      translations.targetsOf(language).map((to) => translated(query, { ...dictionary, language, to })),
    ),
  };
}

interface Dictionary extends QuerySource {
  readonly translations: Translations;
}

/** Returns the languages of which a query contains the most words: function words, and words of the dictionary. */
function likelyLanguages(query: string, { terms, languages, translations }: Dictionary): string[] {
  const counts = languages.map((language) => {
    const targets = translations.targetsOf(language);
    const isKnown = (word: string): boolean =>
      isStopWord(folded(word), language) ||
      targets.some((to) => terms.of(word, language).some((stem) => translations.of(stem, language, to).length > 0));
    return { language, count: wordsOf(query).filter(isKnown).length };
  });
  const most = Math.max(1, ...counts.map(({ count }) => count));
  return counts.filter(({ count }) => count === most).map(({ language }) => language);
}

interface OwnLanguage extends Dictionary {
  readonly language: string;
}

/** Returns the words of a query that are not stop words. */
function contentWords(query: string, language: string): Set<string> {
  return new Set(wordsOf(query).filter((word) => !isStopWord(folded(word), language)));
}

function withSynonyms(groups: readonly TermGroup[], query: string, own: OwnLanguage): TermGroup[] {
  const { terms, language } = own;
  const stems = new Set(Array.from(contentWords(query, language)).flatMap((word) => terms.of(word, language)));
  return groups.map((group) => {
    const added = Array.from(group.keys())
      .filter((term) => stems.has(term))
      .flatMap((term) => own.translations.synonymsOf(term, language));
    return added.length === 0 ? group : new Map([...added.map(pairOf), ...group]);
  });
}

/** Translates each word. A word without a translation is searched unchanged: it may be a name. */
function translated(query: string, own: OwnLanguage & { readonly to: string }): TranslatedQuery {
  const { terms, translations, language, to } = own;
  const groups = Array.from(contentWords(query, language)).flatMap((word): TermGroup[] => {
    const found = terms.of(word, language).flatMap((stem) => translations.of(stem, language, to));
    if (found.length > 0) return [new Map(found.map(pairOf))];
    return isStopWord(folded(word), to) ? [] : terms.of(word, to).map((term) => new Map([[term, 1]]));
  });
  return { language: to, groups };
}

function pairOf({ term, weight }: WeightedTerm): [string, number] {
  return [term, weight];
}
