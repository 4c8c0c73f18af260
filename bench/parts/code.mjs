// The cost of code execution: the first answer, later answers, tool calls of the code, and memory. Also the tokens that
// code saves.
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { countTokens } from "gpt-tokenizer";
import { withHub } from "../lib/hub.mjs";
import { least, memoryMb, spread, timed } from "../lib/measure.mjs";

const LANGUAGES = {
  javascript: {
    name: "JavaScript",
    cold: "300 ms",
    warm: "10 ms",
    code: "21 * 2",
    loop: (count) =>
      `const begun = Date.now();\nfor (let at = 0; at < ${count}; ` +
      `at += 1) await tools.invoices.get({ id: at });\n(Date.now() - begun) / ${count}`,
  },
  python: {
    name: "Python",
    cold: "1.5 s",
    warm: "25 ms",
    code: "21 * 2",
    loop: (count) =>
      `import time\nbegun = time.perf_counter()\nfor at in range(${count}): await tools.invoices.get(id=at)\n` +
      `(time.perf_counter() - begun) * 1000 / ${count}`,
  },
};
const INSIDE_GOAL = "2 ms";
/** Time after which the pool has a worker of each language again, also on a busy machine. */
const REFILLED_MS = 3000;

export async function measureCode(bench) {
  const config = invoicesYard(bench.folder());
  for (const language of Object.keys(LANGUAGES)) await first(bench, config, language);
  await withHub(config, { home: bench.folder() }, async (hub, client) => {
    for (const language of Object.keys(LANGUAGES)) await further(bench, client, language);
    for (const language of Object.keys(LANGUAGES)) await inside(bench, client, language);
  });
  await memory(bench, config);
  await context(bench, config);
}

async function first(bench, config, language) {
  const { name, cold, code } = LANGUAGES[language];
  const took = [];
  for (let round = 0; round < (bench.quick ? 3 : 10); round += 1) {
    await withHub(config, { home: bench.folder() }, async (_hub, client) => {
      await client.list();
      took.push(await timed(() => run(client, language, code)));
    });
  }
  bench.report(`code: first answer of a fresh hub, ${name}`, spread(took), cold);
}

async function further(bench, client, language) {
  const { name, warm, code } = LANGUAGES[language];
  await run(client, language, code);
  const [rested, straight] = [[], []];
  for (let round = 0; round < (bench.quick ? 3 : 10); round += 1) {
    await new Promise((done) => void setTimeout(done, REFILLED_MS));
    rested.push(await timed(() => run(client, language, code)));
  }
  for (let round = 0; round < (bench.quick ? 5 : 20); round += 1)
    straight.push(await timed(() => run(client, language, code)));
  bench.report(`code: warm, ${name}`, spread(rested), warm);
  bench.report(`code: back to back, ${name}`, spread(straight));
}

async function inside(bench, client, language) {
  const { name, loop } = LANGUAGES[language];
  const count = bench.quick ? 100 : 500;
  const took = [];
  for (let round = 0; round < (bench.quick ? 2 : 5); round += 1)
    took.push((await run(client, language, loop(count))).result);
  bench.report(`code: a tool call from inside, ${name}`, spread(took), INSIDE_GOAL);
}

/** Returns the value of `execute_code`, or throws its failure. */
async function run(client, language, code) {
  const result = await client.call("execute_code", { language, code });
  if (result.isError) throw new Error(JSON.stringify(result.structuredContent));
  return result.structuredContent;
}

async function memory(bench, config) {
  const [before, small, both] = [[], [], []];
  for (let round = 0; round < (bench.quick ? 1 : 3); round += 1) {
    await withHub(config, { home: bench.folder() }, async (hub, client) => {
      await client.list();
      before.push(below(hub.pid));
      await run(client, "javascript", "1");
      await new Promise((done) => void setTimeout(done, REFILLED_MS));
      small.push(below(hub.pid));
      await run(client, "python", "1");
      await new Promise((done) => void setTimeout(done, REFILLED_MS));
      both.push(below(hub.pid));
    });
  }
  bench.report(
    "code: memory of the sandbox",
    `${mb(before)} before the first run; ${mb(small)} with JavaScript's pool, ${mb(both)} with both`,
  );
}

const mb = (values) => `${least(values).toFixed(0)} MB`;

/** Returns the resident memory of a process's descendants, in megabytes. */
function below(pid) {
  const children = readdirSync(`/proc/${pid}/task`).flatMap((thread) =>
    readFileSync(`/proc/${pid}/task/${thread}/children`, "utf8")
      .split(" ")
      .filter((word) => word !== ""),
  );
  return children.reduce((sum, child) => sum + memoryMb(child).resident + below(child), 0);
}

const RECORDS = 200;
const PAGE = 20;

/** Measures the tokens that a model writes and reads for a task over 200 invoices: which customers owe how much. */
async function context(bench, config) {
  await withHub(config, { home: bench.folder() }, async (_hub, client) => {
    const single = await conversation(
      client,
      Array.from({ length: RECORDS }, (_, id) => ["invoices.get", { id }]),
    );
    const pages = await conversation(
      client,
      Array.from({ length: RECORDS / PAGE }, (_, page) => ["invoices.page", { page }]),
    );
    const code = await conversation(client, [
      ["execute_code", { language: "python", code: 'await search("list invoices")' }],
      ["execute_code", { language: "python", code: CODE }],
    ]);
    const shown = (tokens) => tokens.toLocaleString("en-US");
    bench.report(
      `tokens of a task over ${RECORDS} records`,
      `${shown(single)} by ${RECORDS} calls, ${shown(pages)} by ${RECORDS / PAGE} pages, ${shown(code)} by ` +
        `code with its search (${(single / code).toFixed(0)} × and ${(pages / code).toFixed(0)} × less)`,
    );
  });
}

const CODE = `from collections import defaultdict

totals = defaultdict(float)
for page in range(${RECORDS / PAGE}):
    for invoice in await tools.invoices.page(page=page):
        if invoice["status"] == "open":
            totals[invoice["customer"]["name"]] += invoice["amount"]
sorted(totals.items(), key=lambda item: -item[1])[:5]
`;

/**
 * Returns the tokens of the calls as a model writes them and of the results as it reads them; without schemas and
 * prompts on both sides.
 */
async function conversation(client, calls) {
  let tokens = 0;
  for (const [name, args] of calls) {
    const result = await client.call(name, args);
    if (result.isError) throw new Error(JSON.stringify(result));
    tokens += countTokens(JSON.stringify({ name, arguments: JSON.stringify(args) }));
    tokens += countTokens(result.content.map(({ text }) => text).join("\n"));
  }
  return tokens;
}

/**
 * Writes a configuration with a tool that returns invoices as services do: with more members than the three that a task
 * needs.
 */
function invoicesYard(folder) {
  mkdirSync(join(folder, "modules", "invoices"), { recursive: true });
  writeFileSync(
    join(folder, "modules", "invoices", "mcp.mjs"),
    `const cities = ["Lyon", "Osaka", "Quito", "Turku", "Perth"];
const invoice = (id) => ({
  id,
  number: "INV-" + String(20000 + id),
  customer: { id: id % 17, name: "Customer " + (id % 17), city: cities[id % cities.length] },
  issued: "2026-0" + (1 + (id % 9)) + "-11",
  due: "2026-0" + (1 + (id % 9)) + "-25",
  amount: Math.round(((id * 7919) % 100000) / 7) / 10,
  currency: "EUR",
  status: id % 3 === 0 ? "open" : "paid",
  lines: [{ text: "Service hours", quantity: id % 9, unit: "h" }, { text: "Travel", quantity: 1, unit: "flat" }],
});
export function registerTools(hub) {
  const one = (name, description) => ({ type: "object", properties: { [name]: { type: "integer", description } },
    required: [name] });
  hub.registerTool("invoices.get", ({ id }) => invoice(id), one("id", "Number of the invoice"), "Gives one invoice");
  hub.registerTool("invoices.page", ({ page }) => Array.from({ length: ${PAGE} },
    (_, at) => invoice(page * ${PAGE} + at)), one("page", "From 0 on"), "Lists invoices, ${PAGE} a page");
}
`,
  );
  const path = join(folder, "code.toml");
  writeFileSync(path, '[modules]\npaths = ["modules"]\n');
  return path;
}
