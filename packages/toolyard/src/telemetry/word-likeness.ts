/**
 * Letter pairs that are frequent in words of English technical texts. About 98 % of such words consist to at least two
 * thirds of such pairs, but only about 6 % of random letters do. (A list of words would be larger and would contain no
 * names.)
 */
const FREQUENT_PAIRS: ReadonlySet<string> = new Set(
  (
    "ab ac ad ag ai al am an ap ar as at au av ay ba be bi bl bo br bs bu ca ce ch ci ck cl co cr ct cu da de di do " +
    "dr ds du ea eb ec ed ee ef eg ei el em en ep er es et ev ew ex fa fe ff fi fo fr fu ga ge gh gi gn gr gs gu ha " +
    "he hi ho ht ia ib ic id ie if ig il im in io ip ir is it iv iz ke ki ks la ld le li ll lo ls lt lu ly ma mb me " +
    "mi mm mo mp ms mu na nc nd ne nf ng ni nn no ns nt nu nv oa ob oc od og oi ok ol om on oo op or os ot ou ov ow " +
    "pa pe pi pl po pp pr ps pt pu qu ra rc rd re rg ri rk rm rn ro rr rs rt ru rv ry sa sc se sh si sl so sp ss st " +
    "su ta tc te th ti to tr ts tt tu ty ua ub uc ud ue ui ul um un up ur us ut va ve vi wa we wi wo xp ys ze"
  ).split(" "),
);
const MIN_WORD_SHARE = 0.65;
const MAX_WORD_CHARS = 24;

/**
 * Returns true if letters of one case look like a word instead of random letters. Non-ASCII letters count as words.
 */
export function isWordLike(letters: string): boolean {
  if (letters.length < 3 || letters.length > MAX_WORD_CHARS) return false;
  const word = letters.toLowerCase();
  let frequent = 0;
  for (let at = 0; at < word.length - 1; at += 1) {
    const pair = word.slice(at, at + 2);
    if (FREQUENT_PAIRS.has(pair) || !/^[a-z]{2}$/.test(pair)) frequent += 1;
  }
  return frequent >= MIN_WORD_SHARE * (word.length - 1);
}

/**
 * Minimum length of a random run. Shorter runs of letters and digits are abbreviations, versions and names of regions.
 */
const MIN_RANDOM_RUN = 8;

/**
 * Counts the characters that cannot be predicted from the others: those of long runs of letters and digits that are
 * neither words nor numbers. `claude-sonnet-4-20250514` has none; in a random key almost all characters count.
 */
export function countRandomChars(text: string): number {
  return runsOf(text).reduce((sum, run) => sum + randomCharsOf(run), 0);
}

function randomCharsOf(run: string): number {
  if (run.length < MIN_RANDOM_RUN || /^\p{N}+$/u.test(run)) return 0;
  const words = wordsOf(run).filter((word) => isWordLike(word));
  const letters = words.reduce((sum, word) => sum + (word.length > 3 ? word.length : 0), 0);
  if (/^\p{L}+$/u.test(run)) return letters >= MIN_WORD_SHARE * run.length ? 0 : run.length;
  return isNumbered(run) ? 0 : run.length - letters;
}

/**
 * Returns true if a run of letters and digits is a word with a number at one end: `oauth2`, `eastus2`, `report2026`.
 */
export function isNumbered(run: string): boolean {
  const { letters } = /^\p{N}{0,8}(?<letters>\p{L}+)\p{N}{0,8}$/u.exec(run)?.groups ?? {};
  return letters !== undefined && isPlainRun(letters);
}

/** Returns true if letters are words, joined as in `camelCase`, or an abbreviation. */
export function isPlainRun(letters: string): boolean {
  return wordsOf(letters).every((word) => word.length <= 3 || isWordLike(word)) && wordsOf(letters).length <= 4;
}

/** Returns the runs of letters and digits in a text. */
export function runsOf(text: string): readonly string[] {
  return text.match(/[\p{L}\p{N}]+/gu) ?? [];
}

/** Returns the words of a name: `apiKey`, `API_KEY` and `api-key` have the same two words. */
export function wordsOf(name: string): readonly string[] {
  return name.match(/\p{Lu}+(?![\p{Ll}])|\p{Lu}?\p{Ll}+|[\p{L}]+/gu) ?? [];
}
