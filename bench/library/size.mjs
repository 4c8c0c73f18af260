// Measures a library of one size, in a separate process because its memory is measured too: `size.mjs fill|ask FILE
// CHUNKS`.
import { statSync } from "node:fs";
import { loadEmbedder } from "../../packages/toolyard/dist/embeddings.js";
import { searchPassages } from "../../packages/library/dist/search/search.js";
import { Terms } from "../../packages/library/dist/search/terms.js";
import { openSqliteStore } from "../../packages/library/dist/store/sqlite/sqlite.js";

const EACH = 300;
const AUTHORS = 200;
const VOCABULARY = 40_000;
const QUERIES = 100;
const SYLLABLES = "ba ce di fo gu la me ni po ru sa te vi no mu ra che stra the ing er ment".split(" ");

const [what, file, chunks] = process.argv.slice(2);
const table = await loadEmbedder();
const embedder = {
  id: table.model,
  dimensions: table.dimensions,
  languages: ["en"],
  embed: async (texts) => texts.map((text) => table.embed(text)),
};
const random = seeded(what === "fill" ? 1 : 2);
console.log(JSON.stringify(what === "fill" ? await fill() : await ask()));

async function fill() {
  const store = await openSqliteStore(file);
  const terms = new Terms();
  await terms.load(["en"]);
  const began = process.cpuUsage();
  const since = performance.now();
  for (let at = 0; at * EACH < chunks; at += 1) {
    const author = `Author Number${at % AUTHORS}`;
    const passages = Array.from({ length: Math.min(EACH, chunks - at * EACH) }, (_, ordinal) =>
      passage(ordinal, terms),
    );
    const document = {
      sourceId: `work_${at}`,
      uri: `file:///${at}`,
      contentHash: String(at),
      pipeline: "",
      bytes: 0,
      mime: "text/plain",
      title: `Work ${at}`,
      work: `Work ${at}`,
      author,
      language: "en",
      pages: 0,
      pageStarts: [],
      toc: [],
      origins: {},
      warnings: [],
    };
    const text = passages.map((one) => one.text).join("\n");
    await store.replaceDocument(document, text, { chunks: passages, summaries: [], embedder: table.model });
  }
  const { user, system } = process.cpuUsage(began);
  const seconds = (performance.now() - since) / 1000;
  await store[Symbol.asyncDispose]();
  return {
    perSecond: chunks / seconds,
    perCpuSecond: chunks / ((user + system) / 1e6),
    bytesEach: statSync(file).size / chunks,
  };
}

function passage(ordinal, terms) {
  const text = sentence(100);
  const words = terms.of(text, "en");
  return {
    ordinal,
    section: [],
    from: 0,
    to: text.length,
    text,
    terms: words.join(" "),
    length: words.length,
    level: 0,
    vector: table.embed(text),
  };
}

async function ask() {
  const terms = new Terms();
  const since = performance.now();
  const store = await openSqliteStore(file);
  const search = (filter) => {
    const request = { query: sentence(7), limit: 10, filter, minSimilarity: 0 };
    return searchPassages("chunk", request, { store, terms, embedder });
  };
  await search({});
  const first = performance.now() - since;
  const times = { all: [], author: [] };
  const cpu = { all: [], author: [] };
  for (let at = 0; at < QUERIES; at += 1)
    for (const [name, filter] of [
      ["all", {}],
      ["author", { author: `Number${at % AUTHORS}` }],
    ]) {
      const [began, used] = [performance.now(), process.cpuUsage()];
      await search(filter);
      times[name].push(performance.now() - began);
      const { user, system } = process.cpuUsage(used);
      cpu[name].push((user + system) / 1000);
    }
  return { first, times, cpu, rss: process.memoryUsage.rss() };
}

/**
 * Returns a sentence in which words are as frequent as in a natural language: a word of low rank is in nearly every
 * sentence.
 */
function sentence(count) {
  return Array.from({ length: count }, () => word(Math.floor(VOCABULARY ** random()))).join(" ");
}

function word(rank) {
  let [rest, text] = [rank, ""];
  do {
    text += SYLLABLES[rest % SYLLABLES.length];
    rest = Math.floor(rest / SYLLABLES.length);
  } while (rest > 0);
  return text;
}

function seeded(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
