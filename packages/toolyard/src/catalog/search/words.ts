import { firstChars } from "../../core/text/truncate.ts";
/** Maximum numbers of characters of a query, and of one field, that are split into words. */
const MAX_QUERY_LENGTH = 2000;
const MAX_FIELD_LENGTH = 8000;
const MAX_QUERY_WORDS = 64;
const MAX_WORD_LENGTH = 48;

/** Words without information about a tool, in English, then in German and French without diacritics. */
const STOP_WORDS: ReadonlySet<string> = new Set(
  (
    "a an and any are as at be been but by can could do does for from had has have how i if in into is it its " +
    "just let like me my of on or our " +
    "please shall should so some such that the their them then there these they this those to up us want was " +
    "we were what when where which " +
    "who will with would you your using via need am about also all give tell " +
    "aber alle als am auf aus bei bitte dass das dem den der des die dieser diese dieses doch du ein eine einem " +
    "einen einer eines er es fur gibt hat habe haben ich ihm ihn ihr im ist jetzt kann kannst kein keine mein meine " +
    "meinem meinen meiner mich mir mit nach nicht noch nur oder ob sich sie sind uber und uns unser vom von vor wann " +
    "warum welche welchem welchen welcher welches wer wie wir wird wo zu zum zur " +
    "au aux avec ce ces cet cette comment dans de des du elle en est et etre il ils je la le les leur lui ma mes mon " +
    "moi ne nous ou par pas peux pour pourquoi quand que quel quelle quelles quels qui sa ses sont sur ta tes toi " +
    "toutes tous tu un une veux vos votre vous"
  ).split(" "),
);

/** English possessives, and French words with an apostrophe before the next word: `Anna's`, `l'application`. */
const ELISIONS = /(?<=\p{L})['’]s(?!\p{L})|(?<!\p{L})(?:[cdjlmnst]|qu|jusqu|lorsqu)['’](?=\p{L})/giu;

/** Word of a query as written, and its stem. */
export interface QueryWord {
  readonly text: string;
  readonly stem: string;
}

/** Returns the distinct words of a query, in order. A query that consists of stop words keeps them. */
export function queryWords(query: string): QueryWord[] {
  const all = wordsOf(firstChars(query, MAX_QUERY_LENGTH).replaceAll(ELISIONS, " "));
  const telling = all.filter((word) => !STOP_WORDS.has(word));
  const words = new Map((telling.length > 0 ? telling : all).map((text) => [stem(text), text]));
  return Array.from(words, ([stemmed, text]) => ({ text, stem: stemmed })).slice(0, MAX_QUERY_WORDS);
}

/** Returns the stems of a field's words, including repetitions. */
export function fieldWords(text: string): string[] {
  return informativeWords(text).map(stem);
}

/** Returns the words of a field as written, without stop words. */
export function informativeWords(text: string): string[] {
  return wordsOf(firstChars(text, MAX_FIELD_LENGTH)).filter((word) => !STOP_WORDS.has(word));
}

/**
 * Returns the words of a text in lower case. The text is split at all characters except letters and digits, and inside
 * `camelCase` too.
 */
export function wordsOf(text: string): string[] {
  const words: string[] = [];
  for (const match of text.matchAll(/[\p{L}\p{N}\p{M}]+/gu)) addWords(match[0], words);
  return words;
}

function addWords(run: string, words: string[]): void {
  if (IDEOGRAPHS.test(run)) return addIdeographs(run, words);
  const parts = run.match(CAMEL_PARTS);
  if (parts && parts.length > 1) for (const part of parts) push(part, words);
  // The joined parts are added too, so that `GitHub` is also found as one word.
  push(run, words);
}

const CAMEL_PARTS = /\p{Lu}+(?!\p{Ll})|\p{Lu}?[\p{Ll}\p{Lo}\p{Lm}\p{M}]+|\p{N}+/gu;
const IDEOGRAPHS = /[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]/;

// In scripts without spaces, each pair of adjacent characters counts as a word.
function addIdeographs(run: string, words: string[]): void {
  for (const part of run.match(
    /[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+|[^\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+/g,
  ) ?? []) {
    if (!IDEOGRAPHS.test(part) || part.length < 2) push(part, words);
    else for (let at = 0; at + 1 < part.length; at += 1) words.push(part.slice(at, at + 2));
  }
}

function push(word: string, words: string[]): void {
  const lower = firstChars(word.toLowerCase(), MAX_WORD_LENGTH);
  words.push(/^\p{ASCII}*$/u.test(lower) ? lower : lower.normalize("NFKD").replaceAll(/\p{M}/gu, ""));
}

/**
 * Returns the stem of a word. Removes plurals, `-ing`, `-ed`, `-ion` and a final `e`, so that create, creating, created
 * and creation match.
 */
export function stem(word: string): string {
  if (word.length <= 3 || /[^a-z]/.test(word)) return word;
  const singular = withoutPlural(word);
  const base = withoutEnding(singular);
  return base.length > 3 && base.endsWith("e") ? base.slice(0, -1) : base;
}

function withoutPlural(word: string): string {
  if (word.endsWith("ies") && word.length > 4) return `${word.slice(0, -3)}y`;
  if (/(?:ss|x|ch|sh|z)es$/.test(word)) return word.slice(0, -2);
  return /[^su]s$/.test(word) && !word.endsWith("is") ? word.slice(0, -1) : word;
}

function withoutEnding(word: string): string {
  for (const [ending, kept] of ENDINGS) {
    if (!word.endsWith(ending)) continue;
    const rest = word.slice(0, -ending.length) + kept;
    if (rest.length < 3 || !/[aeiouy]/.test(rest)) return word;
    return /([bdgklmnprt])\1$/.test(rest) && kept === "" ? rest.slice(0, -1) : rest;
  }
  return word;
}

const ENDINGS: readonly (readonly [string, string])[] = [
  ["ization", "iz"],
  ["ation", "at"],
  ["ator", "at"],
  ["tion", "t"],
  ["sion", "s"],
  ["ing", ""],
  ["eed", "eed"],
  ["ed", ""],
];
