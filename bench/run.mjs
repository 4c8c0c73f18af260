// `npm run bench [-- --quick]`: what the hub costs, in one run on one machine, printed as a table and written to bench/results.md.
// What each line means and what was learnt from it: bench/README.md.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { cpuMs, median, modernClient, root, rssMb, startHub } from "./lib/hub.mjs";
import { emptyYard, everything, kindsYard, modulesYard, scriptsYard, stdioYard } from "./lib/yards.mjs";

const quick = process.argv.includes("--quick");
const scratch = mkdtempSync(join(tmpdir(), "toolyard-bench-"));
const rows = [];

function report(what, value, goal) {
  rows.push({ what, value, goal });
  console.log(`${what.padEnd(64)} ${value.padEnd(34)} ${goal}`);
}

/** Runs `work` against a hub over `config`, which keeps its data in a folder of its own. */
async function withHub(config, work) {
  const home = mkdtempSync(join(scratch, "home-"));
  const hub = await startHub(config, { home });
  const client = modernClient(hub.url);
  try {
    return await work(hub, client);
  } finally {
    client.close();
    await hub.stop();
  }
}

async function timed(work) {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
}

const ms = (value) => `${value.toFixed(value < 10 ? 2 : 0)} ms`;

async function startWithoutUpstreams() {
  const config = emptyYard(scratch);
  const samples = [];
  let rss = 0;
  for (let round = 0; round < (quick ? 3 : 7); round += 1) {
    await withHub(config, async (hub, client) => {
      await client.list();
      samples.push(performance.now() - hub.startedAt);
      rss = rssMb(hub.pid);
    });
  }
  const bare = [];
  for (let round = 0; round < 5; round += 1) bare.push(await timed(() => once(spawn(process.execPath, ["-e", "0"]), "exit")));
  report("start to first tools/list, no upstreams", `${ms(median(samples))} (bare node: ${ms(median(bare))})`, "300 ms");
  report("idle memory, no upstreams", `${rss.toFixed(0)} MB`, "70 MB");
}

/** The same children, started side by side and asked for their tools, without a hub. */
async function startChildrenDirectly(count) {
  const children = [];
  const startedAt = performance.now();
  await Promise.all(
    Array.from({ length: count }, async () => {
      const child = spawn(process.execPath, [everything, "stdio"], { stdio: ["pipe", "pipe", "ignore"] });
      children.push(child);
      const send = (message) => child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
      let text = "";
      const answered = new Promise((done) => {
        child.stdout.on("data", (chunk) => {
          text += chunk;
          if (text.includes('"protocolVersion"') && !text.includes("asked")) {
            text = "asked";
            send({ method: "notifications/initialized" });
            send({ id: 2, method: "tools/list", params: {} });
          }
          if (text.includes('"tools":[')) done();
        });
      });
      send({ id: 1, method: "initialize", params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "bench", version: "1" } } });
      await answered;
    }),
  );
  const took = performance.now() - startedAt;
  for (const child of children) child.kill("SIGKILL");
  return took;
}

async function startWithServers(count) {
  const config = stdioYard(scratch, count);
  const direct = [];
  const through = [];
  for (let round = 0; round < (quick ? 1 : 3); round += 1) {
    direct.push(await startChildrenDirectly(count));
    await withHub(config, async (hub, client) => {
      let tools = 0;
      while (tools < count * 10) tools = (await client.list()).tools.length;
      through.push(performance.now() - hub.startedAt);
    });
  }
  const ratio = median(through) / median(direct);
  report(`start until ${count} stdio servers are listed`, `${ms(median(through))}, ${ratio.toFixed(2)} × direct (${ms(median(direct))})`, "1.20 × direct");
}

function statSweep(folder) {
  for (const name of readdirSync(folder)) for (const file of readdirSync(join(folder, name))) statSync(join(folder, name, file), { bigint: true });
}

async function warmLists() {
  const { config, tools } = scriptsYard(scratch, 1000);
  const rounds = quick ? 20 : 100;
  await withHub(config, async (hub, client) => {
    const listed = [];
    const swept = [];
    for (let round = 0; round < rounds; round += 1) {
      listed.push(await timed(() => client.list()));
      swept.push(await timed(() => statSweep(tools)));
    }
    const before = cpuMs(hub.pid);
    for (let round = 0; round < rounds; round += 1) await client.list();
    const cpu = (cpuMs(hub.pid) - before) / rounds;
    report("warm tools/list, 1,000 script tools", `${ms(median(listed))}, ${(median(listed) / median(swept)).toFixed(2)} × sweep (${ms(median(swept))}), CPU ${ms(cpu)}`, "1.3 × sweep");
  });
  await withHub(modulesYard(scratch, 10_000), async (hub, client) => {
    const first = await timed(() => client.list());
    const before = cpuMs(hub.pid);
    for (let round = 0; round < rounds; round += 1) await client.list();
    report("tools/list, 10,000 catalogued tools", `first ${ms(first)}, then CPU ${ms((cpuMs(hub.pid) - before) / rounds)}`, "");
  });
}

async function callsOfEachKind() {
  const remote = spawn(process.execPath, [join(root, "bench/servers/echo-http.mjs")], { stdio: ["ignore", "pipe", "inherit", "ipc"] });
  const [port] = await once(remote.stdout, "data");
  const config = kindsYard(scratch, `http://127.0.0.1:${String(port).trim()}/mcp`);
  const tools = { module: "many.tool_0", stdio: "child__echo", http: "web__echo", builtin: "meta.ping", script: "tool_00000", folder: "folder_echo" };
  try {
    await withHub(config, async (hub, client) => {
      for (const [kind, tool] of Object.entries(tools)) {
        const count = kind === "script" || kind === "folder" ? (quick ? 20 : 100) : quick ? 1000 : 5000;
        const args = kind === "builtin" ? {} : { text: "hello" };
        for (let round = 0; round < Math.min(count, 300); round += 1) await client.call(tool, args);
        const before = cpuMs(hub.pid);
        const took = await timed(async () => {
          for (let round = 0; round < count; round += 1) await client.call(tool, args);
        });
        report(`one ${kind} call at a time`, `${ms(took / count)} each, hub CPU ${ms((cpuMs(hub.pid) - before) / count)}`, "");
      }
      const death = [];
      for (let round = 0; round < (quick ? 3 : 10); round += 1) {
        death.push(await timed(() => client.call("child__die", {})));
        await client.call("child__echo", { text: "again" });
      }
      report("a child's death to the caller's answer", ms(median(death)), "200 ms");
    });
  } finally {
    remote.kill("SIGKILL");
  }
}

try {
  console.log(`node ${process.version}, ${cpus().length} × ${cpus()[0].model}\n`);
  await startWithoutUpstreams();
  await startWithServers(20);
  await warmLists();
  await callsOfEachKind();
} finally {
  rmSync(scratch, { recursive: true, force: true });
}

if (!quick) {
  const table = rows.map(({ what, value, goal }) => `| ${what} | ${value} | ${goal} |`).join("\n");
  const machine = `Node ${process.version}, ${process.platform} ${process.arch}, ${cpus().length} × ${cpus()[0].model}; \`npm run bench\`.`;
  writeFileSync(join(root, "bench/results.md"), `# Results\n\n${machine}\n\n| what | measured | goal |\n|---|---|---|\n${table}\n`);
}
