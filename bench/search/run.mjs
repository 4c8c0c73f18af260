// `npm run bench:search [-- --tune]`: how well `tool_search` finds, and how fast, on the development queries of the
// tool-search benchmark. `--tune` tunes the ranking anew for each source on all the others, and reports what it does
// for the one that was left out.
import { MEASURES, evaluate, indexOf, readBenchmark } from "./benchmark.mjs";
import { tuneWithout } from "./tune.mjs";

const GOALS = { "macro nDCG@10": 58, "macro R@10": 68, "micro R@5": 82 };
const { tools, queries } = readBenchmark();
const catalogs = [...new Set(queries.map(({ catalog }) => catalog))];
const of = (list, name) => list.filter(({ catalog }) => catalog === name);
const row = (name, measures, n = "") =>
  console.log(
    name.padEnd(24) +
      String(n).padStart(5) +
      MEASURES.map((measure) => measures[measure].toFixed(1).padStart(9)).join(""),
  );

for (const catalog of catalogs) {
  const began = performance.now();
  const search = indexOf(of(tools, catalog));
  const prepared = performance.now();
  search("warm up");
  const built = performance.now() - prepared;
  const { sources, macro, micro, times } = evaluate(search, of(queries, catalog));
  console.log(
    `\n${catalog}: ${of(tools, catalog).length} tools prepared in ${(prepared - began).toFixed(0)} ms, ` +
      `indexed in ${built.toFixed(0)} ms`,
  );
  console.log(`${"source".padEnd(24)}${"n".padStart(5)}${MEASURES.map((measure) => measure.padStart(9)).join("")}`);
  for (const [name, { n, ...measures }] of Object.entries(sources)) row(name, measures, n);
  row("macro", macro);
  row("micro", micro);
  const at = (share) => times[Math.floor(times.length * share)].toFixed(2);
  console.log(`one query: ${at(0.5)} ms p50, ${at(0.99)} ms p99`);
  if (catalog === "mcp") {
    const reached = { "macro nDCG@10": macro["nDCG@10"], "macro R@10": macro["R@10"], "micro R@5": micro["R@5"] };
    console.log(
      Object.entries(GOALS)
        .map(([name, goal]) => `${name} ${reached[name].toFixed(1)} (goal ${goal})`)
        .join(", "),
    );
  }
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
