import type { Terms } from "../search/terms.ts";
import type { AssembledDocument } from "./assemble.ts";
import { Sentences } from "./sentences.ts";

export interface Summary {
  /** Level in the outline: 1 for the whole document, then by heading depth, up to 5. */
  readonly level: number;
  readonly title: string;
  readonly section: readonly string[];
  readonly from: number;
  readonly to: number;
  readonly text: string;
  readonly concepts: readonly string[];
}

const SENTENCES = 4;
const CONCEPTS = 8;
const MAX_LEVEL = 5;
/** Maximum number of sentences of a section that are weighted. */
const MAX_WEIGHED = 2_000;
/** Lengths of a candidate sentence, in characters. Shorter ones are titles, longer ones lists. */
const MIN_SENTENCE = 30;
const MAX_SENTENCE = 600;
/** Penalty of a sentence that repeats those already chosen. */
const SAMENESS = 0.6;

interface Sentence {
  readonly text: string;
  readonly at: number;
  readonly weights: ReadonlyMap<string, number>;
}

/** Returns the sentences that summarise the document and each of its sections, unchanged. */
export function summariesOf(
  { text, toc, parts }: AssembledDocument,
  { terms, language, title }: { readonly terms: Terms; readonly language: string | undefined; readonly title: string },
): Summary[] {
  const segmenter = new Sentences(language);
  const sentences = parts
    .filter(({ kind }) => kind === "paragraph")
    .flatMap(({ from, to }) =>
      segmenter.endsIn(text.slice(from, to)).map((end, at, ends) => {
        const start = from + (ends[at - 1] ?? 0);
        const segment = text.slice(start, from + end);
        return { text: segment.trim(), at: start, terms: terms.of(segment, language) };
      }),
    );
  const rarity = rarityOf(sentences.map(({ terms: own }) => own));
  const weighed = sentences.map(({ text: own, at, terms: words }) => ({
    text: own,
    at,
    weights: weigh(words, rarity),
  }));
  const scopes = [
    { level: 1, title, section: [] as string[], from: 0, to: text.length },
    ...sectionsOf(toc, text.length),
  ];
  const stems = new Map<string, string>();
  const stemOf = (form: string): string => {
    const known = stems.get(form) ?? terms.of(form, language)[0] ?? "";
    stems.set(form, known);
    return known;
  };
  return scopes.flatMap((scope) => {
    const first = firstFrom(weighed, scope.from);
    const own = weighed.slice(first, Math.min(firstFrom(weighed, scope.to), first + MAX_WEIGHED));
    const chosen = choose(own);
    if (chosen.length === 0) return [];
    return [
      {
        ...scope,
        text: chosen.map((one) => one.text).join(" "),
        concepts: conceptsOf(own, text.slice(scope.from, scope.to), stemOf),
      },
    ];
  });
}

/** Returns the index of the first sentence at or after this position. The sentences are sorted by position. */
function firstFrom(sentences: readonly Sentence[], place: number): number {
  let [low, high] = [0, sentences.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sentences[middle]!.at < place) low = middle + 1;
    else high = middle;
  }
  return low;
}

function sectionsOf(toc: AssembledDocument["toc"], end: number) {
  const path: { level: number; title: string }[] = [];
  return toc.flatMap(({ level, title, offset }, at) => {
    while ((path.at(-1)?.level ?? 0) >= level) path.pop();
    path.push({ level, title });
    let after = at + 1;
    while (after < toc.length && toc[after]!.level > level) after += 1;
    const next = toc[after]?.offset ?? end;
    const depth = path.length + 1;
    return depth > MAX_LEVEL
      ? []
      : [{ level: depth, title, section: path.map((one) => one.title), from: offset, to: next }];
  });
}

function rarityOf(sentences: readonly (readonly string[])[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const words of sentences) for (const word of new Set(words)) counts.set(word, (counts.get(word) ?? 0) + 1);
  return new Map(Array.from(counts, ([word, count]) => [word, Math.log(1 + sentences.length / count)]));
}

/** Returns the word weights as a vector of length 1. */
function weigh(words: readonly string[], rarity: ReadonlyMap<string, number>): ReadonlyMap<string, number> {
  const weights = new Map<string, number>();
  for (const word of words) weights.set(word, (weights.get(word) ?? 0) + (rarity.get(word) ?? 0));
  const length = lengthOf(weights.values());
  return new Map(Array.from(weights, ([word, weight]) => [word, weight / length]));
}

/**
 * Chooses sentences by maximal marginal relevance (Carbonell and Goldstein 1998): close to the centroid, far from those
 * already chosen.
 */
function choose(sentences: readonly Sentence[]): readonly Sentence[] {
  const fit = sentences.filter(({ text }) => text.length >= MIN_SENTENCE && text.length <= MAX_SENTENCE);
  const middle = middleOf(fit);
  const rest = new Map(fit.map((one) => [one, cosine(one.weights, middle)]));
  const taken: Sentence[] = [];
  while (taken.length < SENTENCES && rest.size > 0) {
    const [best] = Array.from(rest).reduce((one, other) => (other[1] > one[1] ? other : one));
    taken.push(best);
    rest.delete(best);
    for (const [one, worth] of rest) rest.set(one, worth - SAMENESS * cosine(one.weights, best.weights) ** 2);
  }
  return taken.toSorted((one, other) => one.at - other.at);
}

function middleOf(sentences: readonly Sentence[]): ReadonlyMap<string, number> {
  const sum = new Map<string, number>();
  for (const { weights } of sentences)
    for (const [word, weight] of weights) sum.set(word, (sum.get(word) ?? 0) + weight);
  const length = lengthOf(sum.values());
  return new Map(Array.from(sum, ([word, weight]) => [word, weight / length]));
}

/** Returns the length of a vector; 1 for an empty vector, to avoid a division by 0. */
function lengthOf(weights: Iterable<number>): number {
  let sum = 0;
  for (const weight of weights) sum += weight ** 2;
  return Math.sqrt(sum) || 1;
}

function cosine(one: ReadonlyMap<string, number>, other: ReadonlyMap<string, number>): number {
  let sum = 0;
  for (const [word, weight] of one) sum += weight * (other.get(word) ?? 0);
  return sum;
}

/** Returns the most characteristic words, each in its most frequent form. */
function conceptsOf(sentences: readonly Sentence[], text: string, stemOf: (form: string) => string): string[] {
  const best = Array.from(middleOf(sentences))
    .filter(([word]) => word.length > 3 && !/^\d+$/.test(word))
    .toSorted(([, one], [, other]) => other - one)
    .slice(0, CONCEPTS)
    .map(([word]) => word);
  const forms = new Map<string, Map<string, number>>(best.map((word) => [word, new Map()]));
  for (const [form] of text.matchAll(/[\p{L}][\p{L}\p{M}]*/gu)) {
    const counts = forms.get(stemOf(form));
    const small = form.toLowerCase();
    counts?.set(small, (counts.get(small) ?? 0) + 1);
  }
  return best.flatMap((word) => {
    const [form] = Array.from(forms.get(word)!).toSorted(([, one], [, other]) => other - one);
    return form ? [form[0]] : [];
  });
}
