// Ranks each source of queries with a table that was trained without the queries of this source.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { TokenTable } from "../../packages/toolyard/build/models/table/token-table.js";
import { evaluate, indexOf, tableIndexOf } from "./benchmark.mjs";
import { Tuning } from "./tune.mjs";

/** The catalog on which constants are tuned, and to which the goal applies. */
const TUNED = "mcp";
const GOAL = 61;
const MEASURE = "nDCG@10";
/** The table for tuning constants, which was trained without any source. */
const NONE_LEARNT = "all";

/**
 * Reports the quality of each source with a table that was trained without it. `folder` contains `<source>.bin` for
 * each source, and `all.bin`, a table that was trained without any source. Absent: only words are used.
 */
export function tellLeftOut({ tools, queries }, folder) {
  const of = (list, catalog) => list.filter((one) => one.catalog === catalog);
  const searchOf = (own, table, ranking) => (table ? tableIndexOf(own, table, ranking) : indexOf(own, ranking)).search;
  const tableOf = (name) => folder && tableWithout(folder, name);
  const tuning = new Tuning({ tools: of(tools, TUNED), queries: of(queries, TUNED), table: tableOf(NONE_LEARNT) });
  tell("left out", { words: "words", tuned: "tuned on the others", shipped: "as shipped" });
  const found = { words: [], tuned: [], shipped: [] };
  for (const source of new Set(queries.map((query) => query.source))) {
    const { catalog } = queries.find((query) => query.source === source);
    const own = queries.filter((query) => query.source === source);
    const judged = (search) => evaluate(search, own).macro[MEASURE];
    const table = tableOf(source);
    const values = {
      words: judged(indexOf(of(tools, catalog)).search),
      shipped: judged(searchOf(of(tools, catalog), table)),
    };
    // Queries of other catalogs are not used for tuning.
    const { ranking, told = "" } = catalog === TUNED ? tuning.without(source) : {};
    if (ranking) values.tuned = judged(searchOf(of(tools, catalog), table, ranking));
    for (const [name, list] of Object.entries(found)) if (ranking) list.push(values[name]);
    tell(source, values, told);
  }
  const means = Object.entries(found).map(([name, list]) => [
    name,
    list.reduce((sum, one) => sum + one, 0) / list.length,
  ]);
  tell(`macro over ${TUNED}`, Object.fromEntries(means), folder && `goal ${GOAL}, tuned on the others`);
}

function tell(title, { words, tuned, shipped }, more = "") {
  const cell = (value, width) => (typeof value === "number" ? value.toFixed(1) : (value ?? "")).padStart(width);
  console.log(`${title.padEnd(22)}${cell(words, 8)}${cell(tuned, 22)}${cell(shipped, 13)}  ${more}`);
}

function tableWithout(folder, source) {
  const path = join(folder, `${source}.bin`);
  if (!existsSync(path)) throw new Error(`There is no ${path}. Make it: build.py --without ${source} --out ${path}`);
  return new TokenTable(readFileSync(path), `without ${source}`);
}
