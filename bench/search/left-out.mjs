// Each source of queries judged by what learnt nothing of it.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { TokenTable } from "../../dist/models/table/token-table.js";
import { evaluate, indexOf, tableIndexOf } from "./benchmark.mjs";
import { tuneWithout } from "./tune.mjs";

/** The catalogue on whose queries constants are tuned, and that the goal is about. */
const TUNED = "mcp";
const GOAL = 61;
const MEASURE = "nDCG@10";

/** `folder` holds `<source>.bin` for each source, a table that was made without it; absent: by words alone. */
export function tellLeftOut({ tools, queries }, folder) {
  const of = (list, catalog) => list.filter((one) => one.catalog === catalog);
  console.log(
    `${"left out".padEnd(22)}${"words".padStart(8)}${"tuned on the others".padStart(22)}${"as shipped".padStart(13)}`,
  );
  const tuned = [];
  for (const source of new Set(queries.map((query) => query.source))) {
    const { catalog } = queries.find((query) => query.source === source);
    const own = queries.filter((query) => query.source === source);
    const table = folder && tableWithout(folder, source);
    const words = evaluate(indexOf(of(tools, catalog)), own);
    if (catalog !== TUNED) {
      // Its queries take no part in tuning in any case.
      if (table) tell(source, { words, shipped: evaluate(tableIndexOf(of(tools, catalog), table).search, own) });
      continue;
    }
    const found = tuneWithout(source, { tools: of(tools, catalog), queries: of(queries, catalog), table });
    tuned.push(found);
    tell(source, { words, ...found });
  }
  const mean = (which) => tuned.reduce((sum, one) => sum + one[which].macro[MEASURE], 0) / tuned.length;
  console.log(
    `macro over ${TUNED}: ${mean("tuned").toFixed(1)} tuned on the others, ${mean("shipped").toFixed(1)} as shipped` +
      (folder ? ` (goal ${GOAL})` : ""),
  );
}

function tell(source, { words, tuned, shipped, moved = "" }) {
  const cell = (result, width) => (result ? result.macro[MEASURE].toFixed(1) : "").padStart(width);
  console.log(`${source.padEnd(22)}${cell(words, 8)}${cell(tuned, 22)}${cell(shipped, 13)}  ${moved}`);
}

function tableWithout(folder, source) {
  const path = join(folder, `${source}.bin`);
  if (!existsSync(path)) throw new Error(`There is no ${path}. Make it: build.py --without ${source} --out ${path}`);
  return new TokenTable(readFileSync(path), `without ${source}`);
}
