// The search quality of the library, compared with BM25 of SQLite's FTS5 (its own tokens, its own rank) on the same
// texts.
import { evaluate } from "../../packages/library/dist/measures/evaluate.js";
import { openTableEmbedder } from "../../packages/library/dist/search/table-embedder.js";
import { ndcgAt10 } from "../../packages/library/dist/measures/ndcg.js";
import { openSqlite } from "../../packages/library/dist/store/sqlite/open-sqlite.js";
import { readCollections } from "./collections.mjs";

/** Goals for search by words only. */
const GOALS = { en: "0.530", fr: "0.650" };

export async function measureQuality(report) {
  const { collections, missing } = readCollections();
  for (const { folder, repository, commit } of missing)
    report(
      `quality: ${folder}`,
      `left out: LIBRARY_EVAL names no folder with \`${folder}\`, a checkout of ${repository} at ${commit}`,
    );
  const embedder = await openTableEmbedder();
  let isWorse = false;
  for (const collection of collections) {
    const { name, language, questions } = collection;
    // The table of vectors covers English only, so passages in other languages have no vectors, as in a library.
    const own = embedder.languages.includes(language) ? embedder : undefined;
    const { signal } = new AbortController();
    const { words, meaning = words } = await evaluate(collection, { language, embedder: own, signal });
    const engine = ndcgAt10(questions, await byFts5(collection));
    report(`quality: ${name}, nDCG@10, SQLite FTS5 bm25()`, engine.toFixed(3));
    report(`quality: ${name}, nDCG@10, words alone`, words.ndcg.toFixed(3), GOALS[language]);
    report(
      `quality: ${name}, nDCG@10, words and meaning`,
      meaning.ndcg.toFixed(3),
      `${words.ndcg.toFixed(3)} (words alone)`,
    );
    if (meaning.ndcg < words.ndcg - 0.0005) isWorse = true;
  }
  return !isWorse;
}

/** Ranks with FTS5 and Porter's stemmer for English, as its manual advises; it has none for other languages. */
async function byFts5({ language, documents, questions }) {
  const driver = await openSqlite(":memory:");
  const tokenizer = language === "en" ? "porter unicode61" : "unicode61 remove_diacritics 2";
  driver.exec(`create virtual table own using fts5(id unindexed, title, text, tokenize = '${tokenizer}')`);
  for (const { id, title, text } of documents) driver.run("insert into own values (?, ?, ?)", [id, title, text]);
  const lists = questions.map(({ text }) => {
    const words = Array.from(new Set(text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []));
    const query = words.map((word) => `"${word}"`).join(" OR ");
    return driver.all("select id from own where own match ? order by bm25(own) limit 10", [query]).map(({ id }) => id);
  });
  driver.close();
  return lists;
}
