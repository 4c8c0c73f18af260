// `npm run bench:search [-- --tune] [-- --table FILE]`: how well `tool_search` finds, how fast, and what its answers
// cost, on the development queries of the tool-search benchmark and on queries of our own. `--table` takes another
// table than the shipped one, such as one that learnt nothing of the benchmark's queries. `--tune` tunes the ranking
// anew for each source on all the others, and reports what it does for the one that was left out.
import { readFileSync } from "node:fs";
import { encode } from "gpt-tokenizer/encoding/o200k_base";
import { loadTokenTable, TokenTable } from "../../dist/models/table/token-table.js";
import { executeTool } from "../../dist/providers/builtin/execute-tool.js";
import { searchTexts } from "../../dist/providers/builtin/search-texts.js";
import { toolSearch } from "../../dist/providers/builtin/tool-search.js";
import { MEASURES, evaluate, indexOf, readBenchmark, tableIndexOf } from "./benchmark.mjs";
import { readOwnQueries } from "./own-queries.mjs";
import { tuneWithout } from "./tune.mjs";

const GOALS = { "macro nDCG@10": 64, "micro nDCG@10": 81, "macro R@5": 68 };
/** Tokens that an answer may cost on average, counted as o200k. */
const TOKEN_GOALS = { default: 950, brief: 600 };
/** The same for a whole task of so many steps: the list in discovery mode, and a search and a call for each. */
const TASK_GOAL = 3500;
const STEPS = 3;
/** What one step of a task is like. */
const STEP_SOURCE = "livemcp-step";
const RESULT = "Done: 1 entry was changed.";
const { tools, queries } = readBenchmark();
const catalogs = [...new Set(queries.map(({ catalog }) => catalog))];
const of = (list, name) => list.filter(({ catalog }) => catalog === name);
const tableAt = process.argv.indexOf("--table");
const table = tableAt < 0 ? await loadTokenTable() : new TokenTable(readFileSync(process.argv[tableAt + 1]), "given");
const row = (name, measures, n = "") =>
  console.log(
    name.padEnd(24) +
      String(n).padStart(5) +
      MEASURES.map((measure) => measures[measure].toFixed(1).padStart(9)).join(""),
  );

for (const catalog of catalogs) {
  const own = of(tools, catalog);
  const words = indexOf(own);
  const withTable = tableIndexOf(own, table);
  console.log(`\n${catalog}: ${own.length} tools`);
  const alone = report("by words alone", words, of(queries, catalog));
  const both = report("with the table", withTable.search, of(queries, catalog));
  const { vectors, neighbours } = withTable.cpu;
  console.log(`vectors ${vectors.toFixed(0)} ms of CPU, neighbours ${neighbours.toFixed(0)} ms`);
  const ratio = (share) => (at(both.times, share) / at(alone.times, share)).toFixed(1);
  console.log(`one query, as against words alone: ${ratio(0.5)} times p50, ${ratio(0.99)} times p99 (goal 3)`);
  if (catalog === "mcp") {
    tellGoals(both);
    tellTokens(withTable, of(queries, catalog));
    tellTasks(withTable, of(queries, catalog));
  }
}
const ours = await readOwnQueries(tools);
console.log(`\nown queries: ${ours.tools.length} tools`);
report("by words alone", indexOf(ours.tools), ours.queries);
report("with the table", tableIndexOf(ours.tools, table).search, ours.queries);

function report(title, search, asked) {
  const result = evaluate(search, asked);
  console.log(`${title.padEnd(24)}${"n".padStart(5)}${MEASURES.map((measure) => measure.padStart(9)).join("")}`);
  for (const [name, { n, ...measures }] of Object.entries(result.sources)) row(name, measures, n);
  row("macro", result.macro);
  row("micro", result.micro);
  console.log(`one query: ${at(result.times, 0.5).toFixed(2)} ms p50, ${at(result.times, 0.99).toFixed(2)} ms p99`);
  return result;
}

function at(times, share) {
  return times[Math.floor(times.length * share)];
}

function tellGoals({ macro, micro }) {
  const reached = {
    "macro nDCG@10": macro["nDCG@10"],
    "micro nDCG@10": micro["nDCG@10"],
    "macro R@5": macro["R@5"],
  };
  console.log(
    Object.entries(GOALS)
      .map(([name, goal]) => `${name} ${reached[name].toFixed(1)} (goal ${goal})`)
      .join(", "),
  );
}

/** What `tool_search` answers, in tokens, and how often what is looked for is named in it at all. */
function tellTokens({ answer, idOf }, asked) {
  const shape = { count: 5, detail: "full", isWhole: false, isList: false };
  const sums = { default: 0, brief: 0 };
  const recalls = {};
  for (const query of asked) {
    const found = answer(query.query, 25);
    const texts = searchTexts(found, shape);
    sums.default += count(texts.join("\n"));
    const brief = searchTexts(answer(query.query, 40), { ...shape, count: 20, detail: "brief" });
    sums.brief += count(brief.join("\n"));
    const named = new Set(found.hits.filter(({ name }) => texts.some((text) => text.includes(name))).map(idOf));
    const isNamed = (id) => [id, ...(query.alt?.[id] ?? [])].some((one) => named.has(one));
    (recalls[query.source] ??= []).push(query.gold.filter(isNamed).length / query.gold.length);
  }
  const mean = (list) => list.reduce((sum, one) => sum + one, 0) / list.length;
  for (const [name, goal] of Object.entries(TOKEN_GOALS))
    console.log(`tokens of an answer, ${name}: ${(sums[name] / asked.length).toFixed(0)} (goal ${goal})`);
  const recall = 100 * mean(Object.values(recalls).map(mean));
  console.log(`recall of the whole default answer, macro: ${recall.toFixed(1)} (goal 79.2)`);
}

/** Tokens of tasks in discovery mode, as the model writes and reads them; each tool takes one short argument. */
function tellTasks({ answer }, asked) {
  const list = discoveryTools().map(({ name, description, inputSchema }) => ({
    type: "function",
    function: { name, description, parameters: inputSchema },
  }));
  const shape = { count: 5, detail: "full", isWhole: false, isList: false };
  const costs = asked
    .filter(({ source }) => source === STEP_SOURCE)
    .map(({ query }) => {
      const found = answer(query, 25);
      const call = { name: found.hits[0].name, arguments: { value: "the argument of this step" } };
      return (
        count(JSON.stringify({ query })) + count(searchTexts(found, shape).join("\n")) + count(JSON.stringify(call))
      );
    });
  const step = costs.reduce((sum, one) => sum + one, 0) / costs.length + count(RESULT);
  const task = count(JSON.stringify(list)) + STEPS * step;
  console.log(`tokens of a task of ${STEPS} searches and calls: ${task.toFixed(0)} (goal ${TASK_GOAL})`);
}

function count(text) {
  return encode(text).length;
}

/** The two tools that discovery mode lists. */
function discoveryTools() {
  const source = { id: "builtin", kind: "builtin", namespace: "", order: 0 };
  return [toolSearch(source, {}), executeTool(source, {})].map(({ record }) => record.definition);
}

if (process.argv.includes("--tune")) {
  const names = [...new Set(of(queries, "mcp").map(({ source }) => source))];
  console.log(
    `\n${"left out of tuning".padEnd(24)}${"nDCG@10 as tuned on the others".padStart(32)}` +
      `${"as shipped".padStart(12)}  constants that moved`,
  );
  for (const name of names) {
    const { tuned, shipped, moved } = tuneWithout(name, of(tools, "mcp"), of(queries, "mcp"));
    console.log(`${name.padEnd(24)}${tuned.toFixed(1).padStart(32)}${shipped.toFixed(1).padStart(12)}  ${moved}`);
  }
}
