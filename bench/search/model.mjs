// The ranking with an embedding model instead of the table, as with `models.embedding`. Environment variables configure
// the vectors:
//   SEARCH_VECTORS          a file of vectors in the hub's format; results of the endpoint are added to it
//   SEARCH_EMBEDDING_URL    base URL of an OpenAI-compatible endpoint for vectors that the file lacks
//   SEARCH_EMBEDDING_MODEL  the model there
//   SEARCH_EMBEDDING_KEY    its key, if it requires one
import { createHash } from "node:crypto";
import { writeFileSync } from "node:fs";
import { VectorFile } from "../../packages/toolyard/build/catalog/search/semantic/vector-file.js";
import { unitVector } from "../../packages/toolyard/build/catalog/search/semantic/vector-store.js";
import { createEmbedder } from "../../packages/toolyard/build/models/embedder.js";
import { resolveModels } from "../../packages/toolyard/build/models/options.js";
import { OutboundClient } from "../../packages/toolyard/build/outbound/outbound-client.js";
import { indexOf, modelIndexOf, modelTextsOf } from "./benchmark.mjs";

const CATALOG = "mcp";
const GOAL = 65.5;
const BATCH = 96;
const TIMEOUT_MS = 120_000;

export async function tellModel({ tools, queries }, { table, report, tellTimes }) {
  const own = tools.filter(({ catalog }) => catalog === CATALOG);
  const asked = queries.filter(({ catalog }) => catalog === CATALOG);
  const texts = [...new Set([...modelTextsOf(own), ...asked.map(({ query }) => query)])];
  const vectors = await readVectors(texts);
  const { search } = modelIndexOf(own, table, (text) => vectors.get(keyOf(text)));
  console.log(`\n${CATALOG}: ${own.length} tools, vectors of ${vectors.values().next().value.length} numbers`);
  const { macro } = report("with the model", search, asked);
  tellTimes({ words: indexOf(own).search, search }, asked);
  console.log(`macro nDCG@10 ${macro["nDCG@10"].toFixed(1)} (goal ${GOAL} for a model of MiniLM's class)`);
}

const keyOf = (text) => createHash("sha256").update(text).digest("hex");

async function readVectors(texts) {
  const { SEARCH_VECTORS: path, SEARCH_EMBEDDING_URL: url, SEARCH_EMBEDDING_MODEL: model } = process.env;
  const file = path === undefined ? undefined : new VectorFile(path);
  const { vectors, isWhole } = (await file?.load()) ?? { vectors: new Map(), isWhole: false };
  const missing = texts.filter((text) => !vectors.has(keyOf(text)));
  if (missing.length === 0) return vectors;
  if (!url || !model) throw new Error(whatIsMissing(missing, path));
  const fresh = await ask(missing, { url, model, key: process.env["SEARCH_EMBEDDING_KEY"] ?? "none" });
  for (const [key, vector] of fresh) vectors.set(key, vector);
  await file?.append(isWhole ? fresh : vectors, !isWhole);
  return vectors;
}

function whatIsMissing(missing, path) {
  const list = "search-texts.json";
  writeFileSync(list, JSON.stringify(missing));
  return (
    `${path ?? "No file (SEARCH_VECTORS)"} has no vectors of ${missing.length} texts, and no endpoint is named. ` +
    "Set SEARCH_EMBEDDING_URL and SEARCH_EMBEDDING_MODEL, or make them by the teacher of the table: " +
    `scripts/embeddings/vectors.py --teacher FOLDER --texts ${list} --out FILE (the texts were written to ${list}).`
  );
}

async function ask(texts, { url, model, key }) {
  const providers = { asked: { base_url: url, api_key: key } };
  const options = resolveModels({ embedding: `asked/${model}`, providers }, process.env);
  const client = new OutboundClient({ userAgent: "toolyard-bench", environment: process.env });
  const embedder = createEmbedder(options.embedding, options, client);
  const found = new Map();
  try {
    for (let at = 0; at < texts.length; at += BATCH) {
      const batch = texts.slice(at, at + BATCH);
      const answers = await embedder.embed(batch, AbortSignal.timeout(TIMEOUT_MS));
      for (const [place, text] of batch.entries()) found.set(keyOf(text), unitVector(answers[place]));
    }
    return found;
  } finally {
    await client.close();
  }
}
