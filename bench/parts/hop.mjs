// The cost of the HTTP endpoint compared with a minimal handler, and of a hop through the hub compared with a direct
// call of the same server over its own HTTP transport: throughput as a ratio, in one run.
import { withHub } from "../lib/hub.mjs";
import { cpuMs, least, median, ms, timed } from "../lib/measure.mjs";
import { startServer } from "../lib/servers.mjs";
import { openBare, openSession } from "../lib/wire.mjs";
import { hopYard } from "../lib/yards.mjs";

const LOADS = [
  { what: "echo", tool: "echo", args: { text: "hello" }, callers: [1, 32, 256], count: 1500 },
  { what: "64 KB", tool: "large", args: { bytes: 65_536 }, due: { bytes: 65_536 }, callers: [1, 32], count: 400 },
  { what: "100 KB", tool: "large", args: { bytes: 102_400 }, due: { bytes: 102_400 }, callers: [32], count: 300 },
  { what: "5 × progress", tool: "progress", args: { times: 5 }, due: { marks: 5 }, callers: [32], count: 400 },
];
const WAYS = { stdio: "child__", http: "web__" };
const GOALS = {
  "in process, echo, 1": "CPU 150 µs",
  "in process, echo, 32": "0.5 ×, CPU 150 µs",
  "stdio, echo, 1": "+1 ms",
  "stdio, echo, 32": "1.8 ×, CPU 200 µs",
  "stdio, 64 KB, 32": "0.6 ×",
  "http, echo, 1": "+1 ms",
  "http, echo, 32": "0.75 ×, CPU 400 µs",
  "http, 64 KB, 32": "0.6 ×",
};

export async function measureHop(bench) {
  const [bare, direct, remote] = await Promise.all([
    startServer("bare-http.mjs"),
    startServer("sdk.mjs", ["http"]),
    startServer("sdk.mjs", ["http"]),
  ]);
  try {
    await withHub(hopYard(bench.folder(), remote.url), { home: bench.folder() }, async (hub) => {
      for (const callers of [1, 32, 256]) await compareDoor(bench, { callers, bare, hub });
      for (const load of LOADS)
        for (const callers of load.callers) await compare(bench, { load, callers, direct, hub });
    });
  } finally {
    bare.stop();
    direct.stop();
    remote.stop();
  }
}

/**
 * Compares only the endpoint: a call that is answered in process, and a handler that parses and echoes JSON without
 * checks.
 */
async function compareDoor(bench, { callers, bare, hub }) {
  const contestants = await Promise.all([
    contestant("bare handler", bare, { tool: "echo", callers, open: openBare }),
    contestant("in process", hub, { tool: "many.tool_0", callers }),
  ]);
  await compete(bench, contestants, { what: "echo", args: { text: "hello" }, count: 1500, callers });
}

async function compare(bench, { load, callers, direct, hub }) {
  const contestants = await Promise.all([
    contestant("direct", direct, { tool: load.tool, callers }),
    ...Object.entries(WAYS).map(([way, prefix]) => contestant(way, hub, { tool: prefix + load.tool, callers })),
  ]);
  await compete(bench, contestants, { ...load, callers });
}

/**
 * Measures the load with each contestant. They alternate, so that other load of the machine affects them equally. The
 * first one is the baseline.
 */
async function compete({ quick, report }, contestants, load) {
  const { callers, what } = load;
  const count = Math.max(callers * 2, Math.ceil(load.count / (quick ? 2 : 1)));
  for (let round = 0; round <= (quick ? 4 : 10); round += 1) {
    for (const one of contestants) await runRound(one, load, { count, isWarm: round > 0 });
  }
  const [first, ...others] = contestants;
  report(
    `${first.name}, ${what}, ${plural(callers)}`,
    `${perSecond(first)}, ${each(first, callers)} each, CPU ${ms(least(first.cpu))} of the server`,
  );
  for (const { name, wall, cpu } of others) {
    const ratio =
      `${(least(first.wall) / least(wall)).toFixed(2)} × ${first.name} (median ` +
      `${(median(first.wall) / median(wall)).toFixed(2)})`;
    report(
      `${name}, ${what}, ${plural(callers)}`,
      `${ratio}, ${perSecond({ wall })}, ${each({ wall }, callers)} each, CPU ${ms(least(cpu))}`,
      GOALS[`${name}, ${what}, ${callers}`],
    );
  }
  for (const { sessions } of contestants) for (const session of sessions) session.close();
}

async function contestant(name, server, { tool, callers, open = openSession }) {
  return {
    name,
    tool,
    pid: server.pid,
    sessions: await Promise.all(Array.from({ length: callers }, () => open(server.url))),
    wall: [],
    cpu: [],
  };
}

async function runRound({ sessions, tool, pid, wall, cpu }, { args, due }, { count, isWarm }) {
  let left = count;
  const before = cpuMs(pid);
  const took = await timed(() =>
    Promise.all(
      sessions.map(async (session) => {
        while (left > 0) {
          left -= 1;
          await session.call(tool, args, due);
        }
      }),
    ),
  );
  if (!isWarm) return;
  cpu.push((cpuMs(pid) - before) / count);
  wall.push(took / count);
}

const plural = (callers) => `${callers} caller${callers === 1 ? "" : "s"}`;
const perSecond = ({ wall }) => `${Math.round(1000 / least(wall))}/s`;
const each = ({ wall }, callers) => ms(least(wall) * callers);
