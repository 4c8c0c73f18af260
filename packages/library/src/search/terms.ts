import { stemOf, type Stem } from "./languages.ts";
import { isStopWord, queryLanguage } from "./stop-words.ts";
import { termGroup, type TermGroup } from "./term-group.ts";

/** Maximum number of cached stems per language. */
const MAX_KEPT = 50_000;
/** Maximum length of an indexed word. Longer runs of letters are not words, and would only fill the index. */
const MAX_WORD = 64;
const WORDS = /[\p{L}\p{N}][\p{L}\p{N}\p{M}]*/gu;
/** Scripts that have no spaces between words. */
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}]/u;
const LIGATURES: Readonly<Record<string, string>> = { œ: "oe", æ: "ae", ß: "ss", ø: "o", ł: "l", đ: "d" };

/** Private-use characters, which occur in no word, as prefixes of terms that are not stems. */
const STOP_MARK = "\ue100";
const EXACT_MARK = "\ue101";
/**
 * Minimum length of a suffix that the stem omits. A word with a suffix of this length is indexed in its exact spelling
 * too, because the suffix can change its meaning.
 */
const SUFFIX_LENGTH = 3;

/** Returns whether a term is the exact spelling of a word, which is indexed in addition to its stem. */
export function isExactTerm(term: string): boolean {
  return term.startsWith(EXACT_MARK);
}

/** Terms of a query, and the language of its function words. */
export interface QueryTerms {
  readonly groups: readonly TermGroup[];
  /** Language as ISO 639-1; undefined if it is uncertain. */
  readonly language: string | undefined;
}

/**
 * Turns texts into index terms: lower-case stems without accents. All stores share this, so that no store's own
 * tokenizer decides what is found.
 */
export class Terms {
  readonly #stems = new Map<string, { readonly stem: Stem; readonly known: Map<string, string> }>();

  /** Loads the stemmers of these languages. Words of other languages are not stemmed. */
  async load(languages: Iterable<string>): Promise<void> {
    for (const language of languages)
      if (!this.#stems.has(language)) this.#stems.set(language, { stem: await stemOf(language), known: new Map() });
  }

  /** Returns the terms of a text, in order. */
  of(text: string, language: string | undefined): string[] {
    return wordsOf(text).flatMap((word) => this.#term(word, language));
  }

  /**
   * Returns the index terms of a passage. Function words of its language are marked, so that they do not match words of
   * another language («war»). Words with a long suffix are indexed in their exact spelling too, so that «nominalism»
   * differs from «nominate».
   */
  indexed(text: string, language: string | undefined): string[] {
    return wordsOf(text).flatMap((word) => {
      if (language !== undefined && isStopWord(folded(word), language)) return [STOP_MARK + folded(word)];
      const terms = this.#term(word, language);
      return isShortened(word, terms) ? [...terms, exactTerm(word)] : terms;
    });
  }

  /**
   * Returns the terms of a query. A query is too short to detect its language, so its words are stemmed in every
   * language of the library. A stop word of one language counts in the others, unless the query is in that language. A
   * query that consists of stop words only is used unchanged.
   */
  ofQuery(query: string, languages: readonly string[]): QueryTerms {
    // The initials of a name occur in many passages and are meaningless without it.
    const words = wordsOf(query.replaceAll(INITIALS, " "));
    const language = queryLanguage(words.map(folded), languages);
    const isStop = (word: string): boolean => {
      if (language !== undefined && isStopWord(folded(word), language)) return true;
      // A word that is a function word in several languages of the library is also ignored in the query.
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
    return Array.from(unique.values(), (group) => termGroup(...group));
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

/** Returns the words of a text in lower case. An apostrophe separates words: «l’œuvre» contains «œuvre». */
export function wordsOf(text: string): string[] {
  const plain = text.normalize("NFKC").toLowerCase().replaceAll(UNSEEN, "").replaceAll(/['’ʼ]/gu, " ");
  return (plain.match(WORDS) ?? []).filter((word) => word.length <= MAX_WORD);
}

/** Returns a word without accents and ligatures, with letters and digits only. */
export function folded(word: string): string {
  return word
    .normalize("NFD")
    .replaceAll(/\p{M}/gu, "")
    .replaceAll(/[œæßøłđ]/gu, (letter) => LIGATURES[letter] ?? letter);
}

/** Returns each pair of neighbouring characters, for scripts without spaces between words. */
function pairsOf(word: string): string[] {
  const signs = Array.from(word);
  return signs.length < 2 ? signs : signs.slice(1).map((sign, at) => `${signs[at]}${sign}`);
}
