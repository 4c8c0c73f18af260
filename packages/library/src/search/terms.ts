import { stemOf, type Stem } from "./languages.ts";
import { isStopWord, queryLanguage } from "./stop-words.ts";

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

/** Private-use characters, which occur in no word, before terms that are no stems. */
const STOP_MARK = "\ue100";
const EXACT_MARK = "\ue101";
/** Letters that a stem omits of a word that is indexed as it is too: a suffix that makes another word of it. */
const SUFFIX_LENGTH = 3;

/** Returns whether a term is the exact spelling of a word, indexed in addition to its stem. */
export function isExactTerm(term: string): boolean {
  return term.startsWith(EXACT_MARK);
}

/** A query as terms, and the language of its function words. */
export interface QueryTerms {
  readonly groups: readonly TermGroup[];
  /** ISO 639-1; undefined if it is uncertain. */
  readonly language: string | undefined;
}

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
   * The terms of a passage in the index. Function words of its language are marked, so that they are not found as words
   * of another language («war»). Words with a long suffix are indexed as they are too, so that «nominalism» is not the
   * same as «nominate».
   */
  indexed(text: string, language: string | undefined): string[] {
    return wordsOf(text).flatMap((word) => {
      if (language !== undefined && isStopWord(folded(word), language)) return [STOP_MARK + folded(word)];
      const terms = this.#term(word, language);
      return isShortened(word, terms) ? [...terms, exactTerm(word)] : terms;
    });
  }

  /**
   * A query is too short to detect its language, so its words are stemmed in every language of the library. A stop word
   * of one language counts in the others, unless the query is in that language. A query of stop words only is used as
   * it is.
   */
  ofQuery(query: string, languages: readonly string[]): QueryTerms {
    // The initials of a name are in many passages, and tell nothing without it.
    const words = wordsOf(query.replaceAll(INITIALS, " "));
    const language = queryLanguage(words.map(folded));
    const isStop = (word: string): boolean => {
      if (language !== undefined && isStopWord(folded(word), language)) return true;
      // A function word of several languages of the library is one in the query too.
      return languages.filter((one) => isStopWord(folded(word), one)).length > 1;
    };
    const telling = this.#groupsOf(
      words.filter((word) => !isStop(word)),
      languages,
      true,
    );
    const groups = telling.length > 0 ? telling : this.#groupsOf(wordsOf(query), languages, false);
    return { groups, language };
  }

  groupsOf(query: string, languages: readonly string[]): readonly TermGroup[] {
    return this.ofQuery(query, languages).groups;
  }

  #groupsOf(words: readonly string[], languages: readonly string[], isTelling: boolean): TermGroup[] {
    const groups = new Map<string, Set<string>>();
    const add = (key: string, term: string): void => void groups.set(key, (groups.get(key) ?? new Set()).add(term));
    for (const word of words)
      for (const language of languages.length > 0 ? languages : [undefined]) {
        if (language !== undefined && isStopWord(folded(word), language)) {
          if (!isTelling) add(`${word} 0`, STOP_MARK + folded(word));
          continue;
        }
        const terms = this.#term(word, language);
        for (const [at, term] of terms.entries()) add(`${word} ${at}`, term);
        if (isShortened(word, terms)) add(`${word} exact`, exactTerm(word));
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

/** Single letters with full stops, such as «C. S.» before a name. */
const INITIALS = /(?<![\p{L}\p{N}])(?:\p{L}\.[\s-]*)+(?=\p{Lu}\p{L}+)/gu;

function isShortened(word: string, terms: readonly string[]): boolean {
  return terms.length === 1 && folded(word).length - terms[0]!.length >= SUFFIX_LENGTH;
}

function exactTerm(word: string): string {
  return EXACT_MARK + folded(word);
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
