import { synonymsOf } from "./synonyms.ts";
import { translationsOf } from "./translations.ts";
import type { Vocabulary } from "./vocabulary.ts";
import { stem } from "./words.ts";

/** Stem that is searched in addition to, or instead of, the stem of a query word. */
export interface Expansion {
  readonly word: string;
  /** Weight of a match, from 0 to 1. */
  readonly factor: number;
}

const PREFIX_FACTOR = 0.8;
const PART_FACTOR = 0.6;
const SLIP_FACTOR = 0.5;
const TRANSLATION_FACTOR = 0.7;
const MIN_PREFIX_LENGTH = 3;
/**
 * Minimum length of a word that is searched inside other words. Short words occur by chance in many names: `den` in
 * `confidential`.
 */
const MIN_PART_LENGTH = 4;
const MIN_SLIP_LENGTH = 4;
const MAX_EXPANSIONS = 12;
/** Maximum number of words that are considered before the shortest ones are chosen. */
const MAX_CANDIDATES = 200;

/** Returns the stem itself and its synonyms. */
export function knownExpansions(word: string, synonymFactor: number): Expansion[] {
  return [
    { word, factor: 1 },
    ...Array.from(synonymsOf(word), (synonym) => ({ word: synonym, factor: synonymFactor })),
  ];
}

/**
 * Returns the stems to search instead of a stem that no tool has: its English translations; otherwise words of names
 * that start with it; otherwise words that contain it; otherwise words that differ by a typing error.
 */
export function looseExpansions(word: string, vocabulary: Vocabulary): Expansion[] {
  const translations = translationsOf(word);
  if (translations.length > 0) return translations.map((one) => ({ word: stem(one), factor: TRANSLATION_FACTOR }));
  if (word.length >= MIN_PREFIX_LENGTH) {
    const prefixes = vocabulary.startingWith(word, MAX_CANDIDATES);
    if (prefixes.length > 0) return expansions(prefixes, PREFIX_FACTOR);
  }
  if (word.length >= MIN_PART_LENGTH) {
    const holders = vocabulary.holding(word, MAX_CANDIDATES);
    if (holders.length > 0) return expansions(holders, PART_FACTOR);
  }
  if (word.length < MIN_SLIP_LENGTH) return [];
  return expansions(vocabulary.near(word, word.length < 8 ? 1 : 2), SLIP_FACTOR);
}

function expansions(words: readonly string[], factor: number): Expansion[] {
  return [...new Set(words)]
    .toSorted((a, b) => a.length - b.length || (a < b ? -1 : 1))
    .slice(0, MAX_EXPANSIONS)
    .map((word) => ({ word: stem(word), factor }));
}
