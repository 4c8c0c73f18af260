/**
 * Function words without accents. They make up about half of a question. Words that are also nouns, such as «will» and
 * «fait», are not stop words.
 */
const STOP_WORDS: Readonly<Record<string, string>> = {
  en:
    "a an and are as at be been but by can could did do does for from had has have he her his how i if in into is " +
    "it its ll me my no not of on or our re s she should so some such t than that the their them then there these " +
    "they this those to ve was we were what when where which while who whom whose why with would you your",
  fr:
    "a ai ainsi alors as au aucun aussi aux avec avez avoir avons c car ce ceci cela celle celles celui ces cet " +
    "cette ceux chez comme comment d dans de des dois doit doivent donc dont du elle elles en entre es est et " +
    "etais etait ete etes etre eux faire faut il ils j je l la le les leur leurs lors lui m ma mais me meme " +
    "mes moi mon n ne ni nos notre nous on ont or ou par pas peut peuvent peux plus pour pourquoi puis qu " +
    "quand que quel quelle quelles quels qui quoi s sa sans se sera ses si soit son sont sous suis sur t ta te " +
    "tes toi ton tous tout toute toutes tu un une va vers vos votre vous y",
  de:
    "aber als am an auch auf aus bei bin bis das dass dem den der des die doch du durch ein eine einem einen " +
    "einer eines er es fur hat ich ihr im in ist ja kann mein mich mit nach nicht noch nur ob oder sein sich sie " +
    "sind so uber um und uns unter vom von vor war was weil wenn wer wie wir wird wo zu zum zur",
  es:
    "a al como con cual cuando de del desde donde el ella ellos en entre es esta este esto ha hay la las le les " +
    "lo los mas me mi muy no nos o para pero por porque que quien se ser si sin sobre son su sus te tu un una uno " +
    "y ya yo",
  it:
    "a ai al alla anche che chi ci come con cosa da dal dalla de dei del della delle di dove e ed gli ha i il in " +
    "io la le lo ma mi ne nel nella no non o per perche piu quale quando questa questo se si sono su sua suo ti " +
    "tra un una uno",
  nl:
    "aan al als bij dan dat de der die dit door een en er had heb het hij hoe ik in is ja je kan maar me met mijn " +
    "na naar niet nog of om ons ook op over te tot uit van voor waar was wat we wel werd wie zijn zo",
  pt:
    "a ao aos as com como da das de do dos e ela ele em entre era essa esse esta este eu foi ha isso ja la mais " +
    "mas me mesmo na nao nas no nos o onde os ou para pela pelo por porque qual quando que quem se sem ser seu so " +
    "sua um uma",
};

const SETS = new Map(Object.entries(STOP_WORDS).map(([language, words]) => [language, new Set(words.split(" "))]));

/**
 * Returns whether a word is a stop word. Expects a word without accents. Returns false for a language without a list.
 */
export function isStopWord(word: string, language: string): boolean {
  return SETS.get(language)?.has(word) === true;
}

/** Minimum number of function words for detecting the language. One is not enough: «war» is also a German word. */
const MIN_STOP_WORDS = 2;

/**
 * Returns the language to which most function words of a query belong. If several languages have as many, the one that
 * the library contains: «les», «de» and «la» are French and Spanish. Undefined if the query contains fewer than two
 * function words, or if the language is still uncertain. A query is too short for any other detection.
 */
export function queryLanguage(words: readonly string[], languages: readonly string[] = []): string | undefined {
  const counts = Array.from(SETS, ([language, own]) => ({
    language,
    count: words.filter((word) => own.has(word)).length,
  }));
  const most = Math.max(...counts.map(({ count }) => count));
  if (most < MIN_STOP_WORDS) return undefined;
  const first = counts.filter(({ count }) => count === most).map(({ language }) => language);
  const own = first.length === 1 ? first : first.filter((language) => languages.includes(language));
  return own.length === 1 ? own[0] : undefined;
}
