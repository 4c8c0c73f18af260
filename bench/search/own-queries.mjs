// 150 queries by users who do not know the tools, in English, French and German, on the tools of the example
// configuration and of ten public servers. `own-queries.tsv`: language, query, suitable tools.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createHub } from "../../packages/toolyard/dist/index.js";
import { root } from "../lib/hub.mjs";

/** Servers with tools from the benchmark's data; those of the example come from the example itself. */
const SERVERS = [
  "ref-fetch",
  "ref-filesystem",
  "ref-git",
  "ref-memory",
  "ref-sequential-thinking",
  "ref-sqlite",
  "ref-time",
  "github",
  "kubernetes",
  "playwright",
];
/** Tools of the example's servers that the benchmark's data also contains. */
const TWICE = /^(?:files|memory)__/;

/** Returns `{tools, queries}` in the shape of the benchmark; a query's source is its language. */
export async function readOwnQueries(benchmarkTools) {
  const published = benchmarkTools
    .filter(({ catalog, server }) => catalog === "mcp" && SERVERS.includes(server))
    .map((tool) => ({ ...tool, server: tool.server.replace("ref-", "") }));
  const tools = [...published, ...(await yardTools())];
  const lines = readFileSync(new URL("own-queries.tsv", import.meta.url), "utf8")
    .trim()
    .split("\n");
  const queries = lines.map((line) => {
    const [language, query, good] = line.split("\t");
    const ids = good.split(",").flatMap((name) => tools.filter((tool) => tool.name === name).map(({ id }) => id));
    if (ids.length === 0) throw new Error(`No tool is called ${good}.`);
    // Each tool is suitable: the first represents all.
    return { source: language, query, gold: [ids[0]], alt: { [ids[0]]: ids } };
  });
  return { tools, queries };
}

async function yardTools() {
  const hub = await createHub({
    config: join(root, "examples/yard/toolyard.toml"),
    variables: { PATH: process.env["PATH"] ?? "" },
  });
  try {
    const listed = await listWhole(hub);
    return listed
      .filter(({ name }) => !TWICE.test(name))
      .map((tool) => {
        const [, server = "yard", name = tool.name] = /^(\w+?)__(.+)$/.exec(tool.name) ?? [];
        return { ...tool, id: `${server}/${name}`, server, name };
      });
  } finally {
    await hub.close();
  }
}

const LOOK_MS = 200;
const LONGEST_MS = 60_000;

/** Waits until the example's servers have started; on a busy machine that may take a while. */
async function listWhole(hub) {
  const endsAt = performance.now() + LONGEST_MS;
  for (;;) {
    const listed = await hub.list({ mode: "all" });
    if (listed.some(({ name }) => name.endsWith("echo")) || performance.now() > endsAt) return listed;
    await new Promise((done) => void setTimeout(done, LOOK_MS));
  }
}
