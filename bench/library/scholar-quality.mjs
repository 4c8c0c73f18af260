// The quality of a library of 20,000 passages for questions of scholars, which were written before the ranking was
// tuned.
import { readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { openLibrary } from "../../packages/library/dist/library.js";
import { openTableEmbedder } from "../../packages/library/dist/search/table-embedder.js";
import { searchAnswer } from "../../packages/library/dist/service/results.js";
import { openSqlite } from "../../packages/library/dist/store/sqlite/open-sqlite.js";
import { SCHOLAR_SOURCES, writeScholars } from "./scholars.mjs";

const QUESTIONS = JSON.parse(readFileSync(new URL("scholar-questions.json", import.meta.url), "utf8"));
/** By kind of question: the number of first results that must contain the answer, and the required share. */
const KINDS = {
  authorOnTopic: { depth: 1, goal: 16 },
  directEnglish: { depth: 1 },
  directFrench: { depth: 1 },
  paraphraseEnglish: { depth: 5 },
  paraphraseFrench: { depth: 5, goal: 6 },
  crossLanguage: { depth: 5, goal: 7 },
  // These questions were written before dictionaries were used. When rules were compared, only the number of answered
  // ones was known.
  crossLanguageFurther: { depth: 5, goal: 14 },
};

export async function measureScholars(folder, report, { verbose = false } = {}) {
  const files = writeScholars(join(folder, "scholars"));
  if (!files) return reportMissing(report);
  const file = join(folder, "scholars.db");
  const library = await openLibrary({ file, embedder: await openTableEmbedder() });
  for (const path of files) await library.add({ path });
  const { documents } = await library.documents({}, { limit: 1000, offset: 0 });
  const of = (name) => `quality: scholars, ${documents.reduce((sum, one) => sum + one.chunks, 0)} passages, ${name}`;
  const names = new Map(documents.map(({ sourceId, uri }) => [sourceId, basename(decodeURIComponent(uri))]));
  const rankFts5 = byFts5(file);
  for (const [kind, { depth, goal }] of Object.entries(KINDS)) {
    const found = [0, 0];
    for (const question of QUESTIONS[kind]) {
      const [query] = question;
      const { hits } = await library.search("chunk", { query, limit: 10, minSimilarity: 0, filter: {} });
      const rank = rankOf(
        question,
        hits.map(({ passage }) => passage),
        names,
      );
      if (rank <= depth) found[0] += 1;
      else if (verbose) console.log(`  ${kind}: ${query}: ${rank}; ${shown(hits[0], names)}`);
      if (rankOf(question, await rankFts5(query), names) <= depth) found[1] += 1;
    }
    const count = QUESTIONS[kind].length;
    const name = `${kind} among the first ${depth}`;
    report(of(name), `${found[0]} of ${count}, FTS5 on author, title, text ${found[1]}`, goal && `${goal}`);
  }
  await measureTokens(library, (name, value, goal) => report(of(name), value, goal));
  await measureRefusals(library, (name, value) => report(of(name), value), verbose);
  await library[Symbol.asyncDispose]();
}

/** Characters of JSON per token, approximately. */
const TOKEN = 4;

/** Measures the tokens of an answer of ten passages, with every field and in the compact form. */
async function measureTokens(library, report) {
  const sizes = { text: 0, full: 0, compact: 0 };
  for (const [query] of [...QUESTIONS.directEnglish, ...QUESTIONS.directFrench]) {
    const { hits } = await library.search("chunk", { query, limit: 10, minSimilarity: 0, filter: {} });
    const found = await Promise.all(
      hits.map(async (hit) => ({ hit, document: await library.document(hit.passage.sourceId) })),
    );
    const { content, structuredContent } = searchAnswer(found, { total_count: hits.length, query });
    sizes.text += hits.reduce((sum, { passage }) => sum + passage.text.length, 0);
    sizes.full += JSON.stringify(structuredContent).length;
    sizes.compact += content[0].text.length;
  }
  const of = (size) => `${Math.round(size / TOKEN / (QUESTIONS.directEnglish.length + QUESTIONS.directFrench.length))}`;
  report("tokens of a 10-hit answer", `${of(sizes.compact)} (passages alone ${of(sizes.text)})`, `< ${of(sizes.full)}`);
}

/** Measures refusals: a question without an answer should get none, and one with an answer should get it. */
async function measureRefusals(library, report, verbose) {
  let empty = 0;
  for (const query of QUESTIONS.unanswerable) {
    const { hits } = await library.search("chunk", { query, limit: 10, minSimilarity: 0, filter: {} });
    if (hits.length === 0) empty += 1;
    else if (verbose) console.log(`  unanswerable: ${query}: ${hits[0].score} ${hits[0].passage.text.slice(0, 100)}`);
  }
  report("unanswerable questions with an empty answer", `${empty} of ${QUESTIONS.unanswerable.length}`);
}

function reportMissing(report) {
  for (const { folder, repository, commit } of SCHOLAR_SOURCES)
    report(`quality: scholars: ${folder}`, `left out without all checkouts: ${repository} at ${commit}`);
}

function rankOf([, work, pattern], passages, names) {
  const answer = new RegExp(pattern, "iu");
  const at = passages.findIndex(({ sourceId, text }) => names.get(sourceId)?.startsWith(work) && answer.test(text));
  return at === -1 ? Infinity : at + 1;
}

function shown(hit, names) {
  return hit ? `${names.get(hit.passage.sourceId)}: ${hit.passage.text.slice(0, 80)}` : "nothing";
}

/** Ranks with SQLite's own word index over author, title and text, as the baseline that takes one line of SQL. */
function byFts5(file) {
  let opened;
  return async (query) => {
    opened ??= await filled(file);
    const words = Array.from(new Set(query.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []));
    const match = words.map((word) => `"${word}"`).join(" OR ");
    return opened
      .all("select id, text from own where own match ? order by bm25(own, 0, 2, 1.5, 1) limit 10", [match])
      .map(({ id, text }) => ({ sourceId: id, text }));
  };
}

async function filled(file) {
  const library = await openSqlite(file);
  const driver = await openSqlite(":memory:");
  const tokenizer = "unicode61 remove_diacritics 2";
  driver.exec(`create virtual table own using fts5(id unindexed, author, title, text, tokenize = '${tokenizer}')`);
  const rows = library.all(
    "select source_id, fields, chunk.text from chunk join document on document.id = document_id",
  );
  for (const { source_id: id, fields, text } of rows) {
    const { author = "", title } = JSON.parse(fields);
    driver.run("insert into own values (?, ?, ?, ?)", [id, author, title, text]);
  }
  library.close();
  return driver;
}
