import { plainLetters } from "./plain-text.ts";

/** A difference between a quotation and a text. If a side is empty, its words are missing there. */
export interface QuoteDifference {
  readonly quote: string;
  readonly document: string;
}

/** The part of a text that is most similar to a quotation. */
export interface Alignment {
  /** Range of the part in the text, in characters. */
  readonly from: number;
  readonly to: number;
  /** Share of the quotation's words that the text has in the same order, from 0 to 1. */
  readonly similarity: number;
  readonly differences: readonly QuoteDifference[];
}

/** Maximum number of words of a quotation that are compared; the rest is ignored. */
const MAX_WORDS = 400;
/** Maximum number of words of the text that are compared. */
const MAX_TEXT_WORDS = 4_000;
const MAX_DIFFERENCES = 20;
const WORD = /[\p{L}\p{N}][\p{L}\p{N}\p{M}'’-]*/gu;

interface Word {
  readonly plain: string;
  readonly from: number;
  readonly to: number;
}

/**
 * Finds the part of a text that needs the fewest changed, added and omitted words to become the quotation (Sellers
 * 1980). Returns undefined if they have no word in common.
 */
export function alignQuote(quote: string, text: string): Alignment | undefined {
  const wanted = wordsIn(quote).slice(0, MAX_WORDS);
  const words = wordsIn(text).slice(0, MAX_TEXT_WORDS);
  if (wanted.length === 0 || words.length === 0) return undefined;
  const { end, steps } = leastChanges(wanted, words);
  const pairs = pairsBackFrom(end, { steps, columns: words.length + 1, rows: wanted.length });
  const own = pairs.filter(({ word }) => word !== undefined);
  const same = pairs.filter(({ isSame }) => isSame).length;
  if (own.length === 0 || same === 0) return undefined;
  const changes = pairs.length - same;
  return {
    from: words[own[0]!.word!]!.from,
    to: words[own.at(-1)!.word!]!.to,
    similarity: Math.max(0, 1 - changes / wanted.length),
    differences: differencesIn(pairs, { wanted, words, quote, text }),
  };
}

function wordsIn(text: string): Word[] {
  return Array.from(text.matchAll(WORD), ({ 0: word, index }) => ({
    plain: plainLetters(word),
    from: index,
    to: index + word.length,
  }));
}

/** Steps of the alignment, as stored in the table. */
const SAME = 0;
const CHANGED = 1;
const OMITTED = 2;
const ADDED = 3;

/**
 * Fills the alignment table row by row with the least number of changes. A quotation may begin and end anywhere in the
 * text.
 */
function leastChanges(wanted: readonly Word[], words: readonly Word[]): { end: number; steps: Uint8Array } {
  const columns = words.length + 1;
  const steps = new Uint8Array((wanted.length + 1) * columns);
  let above = new Uint32Array(columns);
  for (let row = 1; row <= wanted.length; row += 1) {
    const costs = new Uint32Array(columns);
    costs[0] = row;
    steps[row * columns] = OMITTED;
    for (let column = 1; column < columns; column += 1) {
      const isSame = wanted[row - 1]!.plain === words[column - 1]!.plain;
      const both = above[column - 1]! + (isSame ? 0 : 1);
      const [omitted, added] = [above[column]! + 1, costs[column - 1]! + 1];
      const least = Math.min(both, omitted, added);
      costs[column] = least;
      const alone = least === omitted ? OMITTED : ADDED;
      steps[row * columns + column] = least !== both ? alone : isSame ? SAME : CHANGED;
    }
    above = costs;
  }
  let end = 0;
  for (let column = 1; column < columns; column += 1) {
    // If two neighbouring ends have equal costs, the later one shows which word of the text replaces the last word.
    const isEqual = above[column] === above[end] && column === end + 1;
    if (above[column]! < above[end]! || isEqual) end = column;
  }
  return { end, steps };
}

/** A word of the quotation aligned with a word of the text, by their positions; one may be absent. */
interface Pair {
  readonly wanted?: number;
  readonly word?: number;
  readonly isSame: boolean;
}

interface Table {
  readonly steps: Uint8Array;
  readonly columns: number;
  readonly rows: number;
}

function pairsBackFrom(end: number, { steps, columns, rows }: Table): Pair[] {
  const pairs: Pair[] = [];
  let [row, column] = [rows, end];
  while (row > 0) {
    const step = steps[row * columns + column];
    if (step === OMITTED) pairs.push({ wanted: (row -= 1), isSame: false });
    else if (step === ADDED) pairs.push({ word: (column -= 1), isSame: false });
    else pairs.push({ wanted: (row -= 1), word: (column -= 1), isSame: step === SAME });
  }
  return pairs.toReversed();
}

interface Texts {
  readonly wanted: readonly Word[];
  readonly words: readonly Word[];
  readonly quote: string;
  readonly text: string;
}

/** Joins neighbouring words that differ into one difference. */
function differencesIn(pairs: readonly Pair[], texts: Texts): QuoteDifference[] {
  const runs: Pair[][] = [];
  let isOpen = false;
  for (const pair of pairs) {
    if (pair.isSame) isOpen = false;
    else if (isOpen) runs.at(-1)!.push(pair);
    else {
      runs.push([pair]);
      isOpen = true;
    }
  }
  return runs.slice(0, MAX_DIFFERENCES).map((run) => ({
    quote: rangeOf(
      texts.quote,
      run.flatMap(({ wanted }) => (wanted === undefined ? [] : [texts.wanted[wanted]!])),
    ),
    document: rangeOf(
      texts.text,
      run.flatMap(({ word }) => (word === undefined ? [] : [texts.words[word]!])),
    ),
  }));
}

function rangeOf(text: string, words: readonly Word[]): string {
  return words.length === 0 ? "" : text.slice(words[0]!.from, words.at(-1)!.to);
}
