// Sixty everyday requests in English, German and French on six popular servers. They were written before any result was
// seen, and nothing is tuned on them. `everyday-queries.tsv`: language, request, suitable tools.
import { readFileSync } from "node:fs";

const SERVERS = ["ref-filesystem", "ref-git", "ref-memory", "azure-mcp", "github", "playwright"];

/** Returns `{tools, queries}` in the shape of the benchmark; a query's source is its language. */
export function readEverydayQueries(benchmarkTools) {
  const tools = benchmarkTools
    .filter(({ catalog, server }) => catalog === "mcp" && SERVERS.includes(server))
    .map((tool) => ({ ...tool, server: tool.server.replace("ref-", "") }));
  const lines = readFileSync(new URL("everyday-queries.tsv", import.meta.url), "utf8")
    .trim()
    .split("\n");
  const queries = lines.map((line) => {
    const [language, query, good] = line.split("\t");
    const ids = good.split(",").flatMap((name) => tools.filter((tool) => tool.name === name).map(({ id }) => id));
    if (ids.length === 0) throw new Error(`No tool has the name ${good}.`);
    // Each tool is suitable: the first represents all.
    return { source: language, query, gold: [ids[0]], alt: { [ids[0]]: ids } };
  });
  return { tools, queries };
}
