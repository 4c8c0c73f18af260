import { editDistance } from "../../core/suggest.ts";
import { synonymsOf } from "./synonyms.ts";
import { stem } from "./words.ts";

/** A stem to look for in place of, or beside, that of a word of the query. */
export interface Expansion {
  readonly word: string;
  /** How much a match counts, from 0 to 1. */
  readonly factor: number;
}

const SYNONYM_FACTOR = 0.2;
const PREFIX_FACTOR = 0.8;
const PART_FACTOR = 0.6;
const SLIP_FACTOR = 0.5;
const MIN_PART_LENGTH = 3;
const MIN_SLIP_LENGTH = 4;
const MAX_EXPANSIONS = 12;

/** The stem itself and its synonyms. */
export function knownExpansions(word: string): Expansion[] {
  return [{ word, factor: 1 }, ...Array.from(synonymsOf(word), (synonym) => ({ word: synonym, factor: SYNONYM_FACTOR }))];
}

/**
 * For a word whose stem stands nowhere: written words of names that begin with it, else words that hold it, else words that a slip of the keyboard
 * leads to. The vocabulary's order does not matter.
 */
export function looseExpansions(word: string, vocabulary: Iterable<string>): Expansion[] {
  const prefixes: string[] = [];
  const holders: string[] = [];
  const slips: { readonly word: string; readonly distance: number }[] = [];
  const bound = word.length < MIN_SLIP_LENGTH ? 0 : word.length < 8 ? 1 : 2;
  for (const other of vocabulary) {
    if (word.length >= MIN_PART_LENGTH && other.startsWith(word)) prefixes.push(other);
    else if (word.length >= MIN_PART_LENGTH && other.includes(word)) holders.push(other);
    else if (bound > 0 && Math.abs(other.length - word.length) <= bound) {
      const distance = editDistance(word, other, bound);
      if (distance <= bound) slips.push({ word: other, distance });
    }
  }
  if (prefixes.length > 0) return expansions(prefixes, PREFIX_FACTOR);
  if (holders.length > 0) return expansions(holders, PART_FACTOR);
  const least = Math.min(...slips.map((slip) => slip.distance));
  const nearest = slips.filter((slip) => slip.distance === least);
  return expansions(nearest.map((slip) => slip.word), SLIP_FACTOR);
}

function expansions(words: readonly string[], factor: number): Expansion[] {
  return [...new Set(words)]
    .toSorted((a, b) => a.length - b.length || (a < b ? -1 : 1))
    .slice(0, MAX_EXPANSIONS)
    .map((word) => ({ word: stem(word), factor }));
}
