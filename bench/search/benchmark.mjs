// The tool-search benchmark: its data, their location, and the measures. The data is not part of this repository.
import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { root } from "../lib/hub.mjs";
import { usualOf } from "../../packages/toolyard/build/catalog/search/likeness/common-direction.js";
import { ModelRows } from "../../packages/toolyard/build/catalog/search/semantic/model-rows.js";
import { MODEL_PRIOR } from "../../packages/toolyard/build/catalog/search/semantic/semantic-search.js";
import { toolTextOf } from "../../packages/toolyard/build/catalog/search/semantic/tool-text.js";
import { Neighbours } from "../../packages/toolyard/build/catalog/search/likeness/neighbours.js";
import { toolVectorsOf } from "../../packages/toolyard/build/catalog/search/likeness/tool-vectors.js";
import { VectorRows } from "../../packages/toolyard/build/catalog/search/likeness/vector-rows.js";
import { SearchIndex } from "../../packages/toolyard/build/catalog/search/search-index.js";
import { PartMaker } from "../../packages/toolyard/build/catalog/source-part.js";
import { resolveCatalog } from "../../packages/toolyard/build/catalog/options.js";

const FILES = ["tools.jsonl", "queries.dev.jsonl"];

/** Returns `{tools, queries}`, or an error that names the missing file and the searched folder. */
export function readBenchmark() {
  const folder = resolve(process.env["TOOL_SEARCH_DATA"] ?? join(root, "../shared/data/tool-search"));
  const missing = FILES.filter((file) => !existsSync(join(folder, file)));
  if (missing.length > 0) {
    throw new Error(
      `The benchmark's ${missing.join(" and ")} not in ${folder}. ` +
        `Set TOOL_SEARCH_DATA to the folder that holds ${FILES.join(" and ")}; ` +
        "bench/README.md names the sources.",
    );
  }
  const [tools, queries] = FILES.map((file) =>
    readFileSync(join(folder, file), "utf8")
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line)),
  );
  return { tools, queries };
}

/**
 * Returns a search over one catalog as the hub creates it, one source per server, by words: `{search, ranked}`.
 * `search` returns ids, best first; `ranked(ranking)` is the same search with other constants.
 */
export function indexOf(tools, ranking) {
  const { rows, parts, idOf } = catalogOf(tools);
  const index = new SearchIndex(rows, parts, ...(ranking ? [ranking] : []));
  return searchesOf(index, () => undefined, { parts, idOf });
}

const OPTIONS = { limit: 10, exact: [], passes: () => true, givesNearest: true };

/**
 * Returns a search like `indexOf`, with the table of token vectors: `{search, answer, idOf, ranked}`. `answer(query,
 * limit)` is the hub's. The constants for `ranked` that are used to read tools must be unchanged.
 */
export function tableIndexOf(tools, table, ranking) {
  const { rows, parts, idOf } = catalogOf(tools);
  const index = new SearchIndex(rows, parts, ...(ranking ? [ranking] : []));
  const vectors = new VectorRows(index.tools.length, table.dimensions);
  for (const [rank, tool] of index.tools.entries()) vectors.set(rank, toolVectorsOf(tool, table));
  const neighbours = drained(Neighbours.find(index.tools, vectors));
  const likenessTo = (query) => vectors.likenessTo(table.embed(query));
  return { ...searchesOf(index, (query) => ({ likeness: likenessTo(query), neighbours }), { parts, idOf }), idOf };
}

/**
 * Returns a search like `tableIndexOf`, with the vectors of a model by text (`modelTextsOf`) and the neighbours of the
 * table.
 */
export function modelIndexOf(tools, table, vectorOf) {
  const { rows, parts, idOf } = catalogOf(tools);
  const index = new SearchIndex(rows, parts);
  const own = new VectorRows(index.tools.length, table.dimensions);
  for (const [rank, tool] of index.tools.entries()) own.set(rank, toolVectorsOf(tool, table));
  const neighbours = drained(Neighbours.find(index.tools, own));
  const vectors = drained(ModelRows.steps(index.tools.map((tool) => vectorOf(toolTextOf(tool).text))));
  const evidence = (query) => {
    const cosines = vectors.cosinesTo(vectorOf(query));
    return { likeness: { cosines, ...usualOf(cosines, MODEL_PRIOR) }, neighbours };
  };
  return { ...searchesOf(index, evidence, { parts, idOf }), idOf };
}

/** Returns the texts of these tools for an embedding model. */
export function modelTextsOf(tools) {
  const { rows } = catalogOf(tools);
  return rows.map((row) => toolTextOf(row).text);
}

function searchesOf(index, evidence, { parts, idOf }) {
  const answerOf = (own) => (query, limit) => own.search(query, { ...OPTIONS, limit, evidence: evidence(query) });
  const searchOf = (own) => (query) => answerOf(own)(query, 10).hits.map(idOf);
  return {
    answer: answerOf(index),
    search: searchOf(index),
    ranked: (ranking) => searchOf(new SearchIndex(index.tools, parts, ranking)),
  };
}

function drained(steps) {
  let step = steps.next();
  while (!step.done) step = steps.next();
  return step.value;
}

function catalogOf(tools) {
  const ids = new Map();
  const maker = new PartMaker(resolveCatalog());
  const parts = Array.from(byServer(tools), ([server, own], order) => {
    const source = { id: server, kind: "stdio", namespace: server, order };
    const records = own.map(({ id, name, description, inputSchema = { type: "object" } }) => {
      const record = {
        source,
        name,
        description: description ?? "",
        inputSchema,
        keywords: [],
        visibility: "native",
        definition: { name, description, inputSchema },
      };
      ids.set(record, id);
      return record;
    });
    return maker.make(source, {
      tools: records,
      resources: [],
      templates: [],
      prompts: [],
      features: {},
      problems: [],
    });
  });
  const rows = parts.flatMap((part) => part.tools).toSorted((a, b) => (a.key < b.key ? -1 : 1));
  const byKey = new Map(rows.map((row) => [row.key, ids.get(row.record)]));
  return { rows, parts, idOf: (hit) => byKey.get(hit.name) };
}

/** Groups tools by server; those without one belong to `tools`. */
export function byServer(tools) {
  const groups = new Map();
  for (const tool of tools) {
    const server = tool.server || "tools";
    groups.set(server, [...(groups.get(server) ?? []), tool]);
  }
  return groups;
}

export const MEASURES = ["R@1", "R@3", "R@5", "R@10", "MRR", "nDCG@10"];

/** Returns `{sources: {name: {n, measures}}, macro, micro}`; measures in percent. */
export function evaluate(search, queries) {
  const sums = {};
  for (const query of queries) {
    const found = search(query.query);
    const sum = (sums[query.source] ??= { n: 0, values: MEASURES.map(() => 0) });
    sum.n += 1;
    for (const [at, value] of measuresOf(query, found).entries()) sum.values[at] += value;
  }
  const all = Object.values(sums);
  const total = all.reduce((n, one) => n + one.n, 0);
  const mean = (weigh) =>
    Object.fromEntries(
      MEASURES.map((name, at) => [name, 100 * all.reduce((sum, one) => sum + weigh(one, one.values[at]), 0)]),
    );
  const sources = Object.fromEntries(
    Object.entries(sums).map(([name, { n, values }]) => [
      name,
      { n, ...Object.fromEntries(MEASURES.map((measure, at) => [measure, (100 * values[at]) / n])) },
    ]),
  );
  return {
    sources,
    macro: mean((one, value) => value / one.n / all.length),
    micro: mean((_, value) => value / total),
  };
}

const ROUNDS = 15;

/**
 * Returns the duration of each search per query: `{p50, p99}` in milliseconds, in the order of `searches`. They
 * alternate for each query, and the minimum of several rounds counts, since other programs only add time.
 */
export function timesOf(searches, queries) {
  const least = searches.map(() => new Float64Array(queries.length).fill(Infinity));
  for (let round = 0; round < ROUNDS; round += 1)
    for (const [at, { query }] of queries.entries())
      for (const [which, search] of searches.entries()) {
        const began = performance.now();
        search(query);
        least[which][at] = Math.min(least[which][at], performance.now() - began);
      }
  return least.map((times) => {
    const sorted = times.toSorted((a, b) => a - b);
    return { p50: sorted[Math.floor(sorted.length * 0.5)], p99: sorted[Math.floor(sorted.length * 0.99)] };
  });
}

/** Returns the measures of one query. The rank of a gold tool is the best rank of itself or of an equivalent one. */
function measuresOf({ gold, alt = {}, rel = {} }, found) {
  const ranks = gold.map((id) => {
    const good = new Set([id, ...(alt[id] ?? [])]);
    const at = found.findIndex((one) => good.has(one));
    return at < 0 ? Infinity : at + 1;
  });
  const recall = (k) => ranks.filter((rank) => rank <= k).length / ranks.length;
  const best = Math.min(...ranks);
  const gains = gold.map((id) => 2 ** (rel[id] ?? 1) - 1);
  const won = ranks.reduce((sum, rank, at) => sum + (rank <= 10 ? gains[at] / Math.log2(rank + 1) : 0), 0);
  const ideal = gains
    .toSorted((a, b) => b - a)
    .slice(0, 10)
    .reduce((sum, gain, at) => sum + gain / Math.log2(at + 2), 0);
  return [recall(1), recall(3), recall(5), recall(10), best <= 10 ? 1 / best : 0, won / ideal];
}
