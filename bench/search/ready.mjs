// The cost until a search is ready. Each figure is the minimum over separate processes, because other load only adds
// time.
import { execFile } from "node:child_process";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { withHub } from "../lib/hub.mjs";
import { cpuMs, least, memoryMb, spread } from "../lib/measure.mjs";
import { scriptsYard } from "../lib/yards.mjs";

const run = promisify(execFile);
const ROUNDS = 5;
const GOALS = { firstMs: 1200, indexCpuMs: 1500, neighboursCpuMs: 4000, longestMs: 20, tableMb: 20 };
const WORDS = {
  firstMs: "first search after start",
  indexCpuMs: "tools indexed, CPU",
  neighboursCpuMs: "their neighbours, CPU",
  longestMs: "longest turn of the event loop meanwhile, CPU",
  tableMb: "memory of table, vectors and neighbours, MB",
};

export async function tellReady() {
  const rounds = [];
  for (let round = 0; round < ROUNDS; round += 1) rounds.push({ ...(await cold("time")), ...(await cold("memory")) });
  console.log(`\n${rounds[0].tools} tools, from nothing; the least of ${ROUNDS} processes`);
  for (const [name, goal] of Object.entries(GOALS)) {
    const values = rounds.map((one) => one[name]).toSorted((a, b) => a - b);
    console.log(`${WORDS[name]}: ${values[0].toFixed(1)}, median ${values[ROUNDS >> 1].toFixed(1)} (goal ${goal})`);
  }
  const told = rounds.filter(({ wasInTime }) => wasInTime).length;
  console.log(`searches that had the table in time: ${told} of ${ROUNDS}`);
  await tellStart();
}

async function cold(what) {
  const { stdout } = await run(process.execPath, [
    "--expose-gc",
    fileURLToPath(new URL("cold.mjs", import.meta.url)),
    what,
  ]);
  return JSON.parse(stdout);
}

const TOOLS = 70;
const SETTLE_MS = 300;

/** Measures the start of a hub without searches, with the table of vectors and without it. */
async function tellStart() {
  const folder = mkdtempSync(join(tmpdir(), "toolyard-bench-search-"));
  try {
    const figures = { words: startFigures(), table: startFigures() };
    for (let round = 0; round < 2 * ROUNDS; round += 1)
      for (const mode of Object.keys(figures)) await startOnce(folder, mode, figures[mode]);
    console.log(`\na hub of ${TOOLS} tools until its first list`);
    for (const [mode, { wall, cpu, memory }] of Object.entries(figures))
      console.log(`mode "${mode}": ${spread(wall)}, CPU ${least(cpu).toFixed(0)} ms, ${least(memory).toFixed(1)} MB`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const startFigures = () => ({ wall: [], cpu: [], memory: [] });

async function startOnce(folder, mode, { wall, cpu, memory }) {
  const { config } = scriptsYard(mkdtempSync(join(folder, "yard-")), TOOLS);
  writeFileSync(config, `\n[search]\nmode = "${mode}"\n`, { flag: "a" });
  await withHub(config, { home: mkdtempSync(join(folder, "home-")) }, async (hub, client) => {
    await client.list();
    wall.push(performance.now() - hub.startedAt);
    cpu.push(cpuMs(hub.pid));
    await new Promise((done) => void setTimeout(done, SETTLE_MS));
    memory.push(memoryMb(hub.pid).resident);
  });
}
