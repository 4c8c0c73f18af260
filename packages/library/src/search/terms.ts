import { stemOf, type Stem } from "./languages.ts";
import { isStopWord } from "./stop-words.ts";

/** Words with their stems that are kept, each language for itself. */
const MAX_KEPT = 50_000;
/** Longer runs of letters are no words, and would only fill the index. */
const MAX_WORD = 64;
const WORDS = /[\p{L}\p{N}][\p{L}\p{N}\p{M}]*/gu;
/** Scripts that have no spaces between words. */
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}]/u;
const LIGATURES: Readonly<Record<string, string>> = { œ: "oe", æ: "ae", ß: "ss", ø: "o", ł: "l", đ: "d" };

/** The words of which a query may find any: one word, as each language of the library writes its stem. */
export type TermGroup = readonly string[];

/**
 * Turns texts into index terms: lower-case stems without accents. All stores share this, so that no store's own
 * tokenizer decides what is found.
 */
export class Terms {
  readonly #stems = new Map<string, { readonly stem: Stem; readonly known: Map<string, string> }>();

  /** Brings the stemmers of these languages; texts in others keep their words whole. */
  async load(languages: Iterable<string>): Promise<void> {
    for (const language of languages)
      if (!this.#stems.has(language)) this.#stems.set(language, { stem: await stemOf(language), known: new Map() });
  }

  /** The terms of a text, in its order. */
  of(text: string, language: string | undefined): string[] {
    return wordsOf(text).flatMap((word) => this.#term(word, language));
  }

  /**
   * A query is too short to detect its language, so its words are stemmed in every language of the library. A stop word
   * of one language counts in the others. A query of stop words only is used as it is.
   */
  groupsOf(query: string, languages: readonly string[]): TermGroup[] {
    const telling = this.#groupsOf(query, languages, true);
    return telling.length > 0 ? telling : this.#groupsOf(query, languages, false);
  }

  #groupsOf(query: string, languages: readonly string[], isTelling: boolean): TermGroup[] {
    const groups = new Map<string, Set<string>>();
    for (const word of wordsOf(query))
      for (const language of languages.length > 0 ? languages : [undefined]) {
        if (isTelling && language !== undefined && isStopWord(folded(word), language)) continue;
        for (const [at, term] of this.#term(word, language).entries()) {
          const key = `${word} ${at}`;
          groups.set(key, (groups.get(key) ?? new Set()).add(term));
        }
      }
    const unique = new Map(Array.from(groups.values(), (group) => [Array.from(group).toSorted().join(" "), group]));
    return Array.from(unique.values(), (group) => Array.from(group));
  }

  #term(word: string, language: string | undefined): readonly string[] {
    if (UNSPACED.test(word)) return pairsOf(word);
    const stems = language === undefined ? undefined : this.#stems.get(language);
    if (!stems) return [folded(word)];
    let term = stems.known.get(word);
    if (term === undefined) {
      term = folded(stems.stem(word)) || folded(word);
      if (stems.known.size >= MAX_KEPT) stems.known.clear();
      stems.known.set(word, term);
    }
    return [term];
  }
}

/** Invisible characters within words: soft hyphens, joiners, byte order marks. */
const UNSEEN = /[\u00ad\u200b-\u200d\u2060\ufeff]/gu;

/** Words in small letters; what an apostrophe joins is two: «l’œuvre» holds «œuvre». */
export function wordsOf(text: string): string[] {
  const plain = text.normalize("NFKC").toLowerCase().replaceAll(UNSEEN, "").replaceAll(/['’ʼ]/gu, " ");
  return (plain.match(WORDS) ?? []).filter((word) => word.length <= MAX_WORD);
}

/** Without accents and ligatures, letters and digits only. */
export function folded(word: string): string {
  return word
    .normalize("NFD")
    .replaceAll(/\p{M}/gu, "")
    .replaceAll(/[œæßøłđ]/gu, (letter) => LIGATURES[letter] ?? letter);
}

/** For scripts without spaces between words: returns each pair of neighbouring characters. */
function pairsOf(word: string): string[] {
  const signs = Array.from(word);
  return signs.length < 2 ? signs : signs.slice(1).map((sign, at) => `${signs[at]}${sign}`);
}
