// How well the library finds, beside BM25 of SQLite's FTS5 (its own words, its own rank) on the same texts.
import { loadEmbedder } from "../../dist/embeddings.js";
import { searchPassages } from "../../dist/servers/library/search/search.js";
import { Terms } from "../../dist/servers/library/search/terms.js";
import { openSqliteStore } from "../../dist/servers/library/store/sqlite.js";
import { openSqlite } from "../../dist/servers/library/store/open-sqlite.js";
import { ndcg, readCollections } from "./collections.mjs";

const ALL = { limit: 10, filter: {}, minSimilarity: 0 };

export async function measureQuality(report) {
  const { collections, missing } = readCollections();
  for (const { folder, repository, commit } of missing)
    report(
      `quality: ${folder}`,
      `left out: LIBRARY_EVAL names no folder with \`${folder}\`, a checkout of ${repository} at ${commit}`,
    );
  const table = await loadEmbedder();
  const embedder = {
    id: table.model,
    dimensions: table.dimensions,
    languages: ["en"],
    embed: async (texts) => texts.map((text) => table.embed(text)),
  };
  let isWorse = false;
  for (const collection of collections) {
    const store = await openSqliteStore(":memory:");
    const terms = new Terms();
    await terms.load([collection.language]);
    for (const document of collection.documents)
      await add(store, document, { terms, table, language: collection.language });
    const ranked = async (own) => {
      const lists = [];
      for (const { text } of collection.queries) {
        const { hits } = await searchPassages("chunk", { query: text, ...ALL }, { store, terms, embedder: own });
        lists.push(hits.map(({ passage }) => passage.sourceId));
      }
      return ndcg(collection.queries, lists);
    };
    const words = await ranked(undefined);
    const both = await ranked(embedder);
    const engine = ndcg(collection.queries, await byFts5(collection));
    report(`quality: ${collection.name}, nDCG@10, SQLite FTS5 bm25()`, engine.toFixed(3));
    report(
      `quality: ${collection.name}, nDCG@10, words alone`,
      words.toFixed(3),
      collection.language === "en" ? "0.530" : "0.650",
    );
    report(
      `quality: ${collection.name}, nDCG@10, words and meaning`,
      both.toFixed(3),
      `${words.toFixed(3)} (words alone)`,
    );
    if (both < words - 0.0005) isWorse = true;
    await store[Symbol.asyncDispose]();
  }
  return !isWorse;
}

async function add(store, { id, title, text }, { terms, table, language }) {
  const words = terms.of(`${title}\n${text}`, language);
  const chunk = {
    ordinal: 0,
    section: [],
    from: 0,
    to: text.length,
    text,
    terms: words.join(" "),
    length: words.length,
    level: 0,
    // The table speaks English; passages in other languages have no vectors in a library either.
    ...(language === "en" && { vector: table.embed(`${title}\n${text}`) }),
  };
  const document = {
    sourceId: id,
    uri: `file:///${id}`,
    contentHash: id,
    pipeline: "",
    bytes: text.length,
    mime: "text/plain",
    title,
    work: title,
    language,
    pages: 0,
    pageStarts: [],
    toc: [],
    origins: {},
    warnings: [],
  };
  await store.replaceDocument(document, text, { chunks: [chunk], summaries: [], embedder: table.model });
}

/** Porter's stems for English, as its manual advises; other languages have none there. */
async function byFts5({ language, documents, queries }) {
  const driver = await openSqlite(":memory:");
  const tokenizer = language === "en" ? "porter unicode61" : "unicode61 remove_diacritics 2";
  driver.exec(`create virtual table own using fts5(id unindexed, title, text, tokenize = '${tokenizer}')`);
  for (const { id, title, text } of documents) driver.run("insert into own values (?, ?, ?)", [id, title, text]);
  const lists = queries.map(({ text }) => {
    const words = Array.from(new Set(text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []));
    const query = words.map((word) => `"${word}"`).join(" OR ");
    return driver.all("select id from own where own match ? order by bm25(own) limit 10", [query]).map(({ id }) => id);
  });
  driver.close();
  return lists;
}
