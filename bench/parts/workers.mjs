// The gain and the cost of `--workers`: the same load against one process and against workers, for calls in process and
// to a child.
import { fork } from "node:child_process";
import { once } from "node:events";
import { readFileSync, readdirSync } from "node:fs";
import { cpus } from "node:os";
import { join } from "node:path";
import { root, startHub } from "../lib/hub.mjs";
import { cpuMs, least, median, ms } from "../lib/measure.mjs";
import { startServer } from "../lib/servers.mjs";
import { kindsYard } from "../lib/yards.mjs";

const COUNTS = [1, 2];
const LOADS = [
  { what: "a module tool", tool: "many.tool_0", bytes: 5 },
  { what: "a module tool, 64 KB back", tool: "many.tool_0", bytes: 65_536 },
  { what: "a stdio child", tool: "child__echo", bytes: 5 },
];

export async function measureWorkers(bench) {
  const remote = await startServer("echo-http.mjs");
  const config = kindsYard(bench.folder(), remote.url);
  try {
    for (const callers of [1, 32]) for (const load of LOADS) await compare(bench, { config, callers, load });
  } finally {
    remote.stop();
  }
}

async function compare({ quick, report, folder }, { config, callers, load }) {
  const figures = COUNTS.map(() => []);
  // One process and several workers alternate, so that other load of the machine affects both.
  for (let round = 0; round < (quick ? 2 : 4); round += 1) {
    for (const [index, count] of COUNTS.entries())
      figures[index].push(await measured({ config, home: folder(), count, callers, load, quick }));
  }
  const shown = figures.map((rounds, index) => {
    const of = (name) => rounds.map((figure) => figure[name]);
    return (
      `${COUNTS[index]}: ${Math.round(Math.max(...of("rate")))}/s, p50 ${ms(least(of("p50")))}, CPU ` +
      `${ms(least(of("cpu")))}${COUNTS[index] > 1 ? ` (primary ${ms(least(of("primary")))})` : ""}`
    );
  });
  const ratio = median(figures[1].map(({ rate }, round) => rate / figures[0][round].rate));
  report(
    `workers: ${load.what}, ${callers} caller${callers > 1 ? "s" : ""}`,
    `${shown.join("; ")}; ${ratio.toFixed(2)} × the rate on ${cpus().length} cores, of which the load takes a part`,
  );
}

async function measured({ config, home, count, callers, load, quick }) {
  const hub = await startHub(config, { home, args: ["--workers", String(count)] });
  try {
    const calls = (quick ? 6000 : 12_000) / (callers === 1 ? 2 : 1) / (load.bytes > 1000 ? 4 : 1);
    const settings = {
      url: hub.url,
      tool: load.tool,
      args: { text: "x".repeat(load.bytes) },
      callers,
      calls,
      warmUp: calls,
    };
    const generator = fork(join(root, "bench/lib/load.mjs"), [JSON.stringify(settings)]);
    await once(generator, "message");
    const pids = [hub.pid, ...workersOf(hub.pid)];
    const before = pids.map(cpuMs);
    generator.send("go");
    const [{ ms: wall, p50 }] = await once(generator, "message");
    const used = pids.map((pid, index) => (cpuMs(pid) - before[index]) / calls);
    return { rate: (calls / wall) * 1000, p50, cpu: used.reduce((sum, one) => sum + one, 0), primary: used[0] };
  } finally {
    await hub.stop();
  }
}

/** Returns the serving processes of a hub (Linux). */
function workersOf(pid) {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && isWorkerOf(name, pid))
    .map(Number);
}

function isWorkerOf(name, parent) {
  try {
    const status = readFileSync(`/proc/${name}/status`, "utf8");
    return (
      Number(/PPid:\s+(\d+)/.exec(status)[1]) === parent &&
      readFileSync(`/proc/${name}/cmdline`, "utf8").includes("workers/main.js")
    );
  } catch {
    return false; // The process has exited meanwhile.
  }
}
