// `npm run bench:search`: quality and speed of `tool_search`, the cost of its answers, and the cost until it is ready,
// for the development queries of the tool-search benchmark and for our own queries.
//   --table FILE       another table than the shipped one, such as one trained without the benchmark's queries
//   --left-out FOLDER  each source ranked with FOLDER/<source>.bin, trained without it (`build.py --without`), and with
//                      constants tuned on the others with FOLDER/all.bin, trained without any
//   --tune             the same with words only
//   --model            with an embedding model that the environment configures (`model.mjs`)
import { readFileSync } from "node:fs";
import { loadTokenTable, TokenTable } from "../../packages/toolyard/build/models/table/token-table.js";
import { MEASURES, evaluate, indexOf, readBenchmark, tableIndexOf, timesOf } from "./benchmark.mjs";
import { tellLeftOut } from "./left-out.mjs";
import { tellModel } from "./model.mjs";
import { readEverydayQueries } from "./everyday-queries.mjs";
import { readOwnQueries } from "./own-queries.mjs";
import { tellReady } from "./ready.mjs";
import { tellTasks, tellTokens } from "./tokens.mjs";

const GOALS = { "macro nDCG@10": 64, "micro nDCG@10": 81, "macro R@5": 68 };
/** Maximum duration of the longest search, as a multiple of the longest search by words alone. */
const TIMES_GOAL = 3;
const benchmark = readBenchmark();
const { tools, queries } = benchmark;
const catalogs = [...new Set(queries.map(({ catalog }) => catalog))];
const of = (list, name) => list.filter(({ catalog }) => catalog === name);
const option = (name) => {
  const at = process.argv.indexOf(name);
  return at < 0 ? undefined : process.argv[at + 1];
};
const given = option("--table");
const table = given === undefined ? await loadTokenTable() : new TokenTable(readFileSync(given), "given");

if (option("--left-out") !== undefined) tellLeftOut(benchmark, option("--left-out"));
else if (process.argv.includes("--tune")) tellLeftOut(benchmark);
else if (process.argv.includes("--model")) await tellModel(benchmark, { table, report, tellTimes });
else await tellAll();

async function tellAll() {
  for (const catalog of catalogs) {
    const [own, asked] = [of(tools, catalog), of(queries, catalog)];
    const words = indexOf(own).search;
    const withTable = tableIndexOf(own, table);
    console.log(`\n${catalog}: ${own.length} tools`);
    report("by words alone", words, asked);
    const both = report("with the table", withTable.search, asked);
    tellTimes({ words, search: withTable.search }, asked);
    if (catalog !== "mcp") continue;
    tellGoals(both);
    tellTokens(withTable, asked);
    tellTasks(withTable, asked);
  }
  const ours = await readOwnQueries(tools);
  console.log(`\nown queries: ${ours.tools.length} tools`);
  const [words, { search }] = [indexOf(ours.tools).search, tableIndexOf(ours.tools, table)];
  report("by words alone", words, ours.queries);
  report("with the table", search, ours.queries);
  tellTimes({ words, search }, ours.queries);
  const everyday = readEverydayQueries(tools);
  console.log(`\neveryday requests: ${everyday.tools.length} tools`);
  report("by words alone", indexOf(everyday.tools).search, everyday.queries);
  report("with the table", tableIndexOf(everyday.tools, table).search, everyday.queries);
  await tellReady();
}

function report(title, search, asked) {
  const { sources, macro, micro } = evaluate(search, asked);
  const row = (name, measures, n = "") =>
    console.log(
      name.padEnd(24) +
        String(n).padStart(5) +
        MEASURES.map((measure) => measures[measure].toFixed(1).padStart(9)).join(""),
    );
  console.log(`${title.padEnd(24)}${"n".padStart(5)}${MEASURES.map((measure) => measure.padStart(9)).join("")}`);
  for (const [name, { n, ...measures }] of Object.entries(sources)) row(name, measures, n);
  row("macro", macro);
  row("micro", micro);
  return { macro, micro };
}

function tellTimes({ words, search }, asked) {
  const [alone, both] = timesOf([words, search], asked);
  const ms = ({ p50, p99 }) => `${p50.toFixed(3)} ms p50, ${p99.toFixed(3)} ms p99`;
  console.log(
    `one query: ${ms(both)}; by words alone ${ms(alone)}: ${(both.p50 / alone.p50).toFixed(2)} times p50, ` +
      `${(both.p99 / alone.p99).toFixed(2)} times p99 (goal ${TIMES_GOAL})`,
  );
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
