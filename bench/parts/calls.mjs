// The cost of one call for each kind of provider and in both eras, compared with a minimal echo handler.
import { withHub, legacyClient, modernClient } from "../lib/hub.mjs";
import { cpuMs, least, median, ms, timed } from "../lib/measure.mjs";
import { startServer } from "../lib/servers.mjs";
import { kindsYard } from "../lib/yards.mjs";

const TOOLS = {
  module: "many.tool_0",
  builtin: "meta.ping",
  stdio: "child__echo",
  http: "web__echo",
  script: "tool_00000",
  folder: "folder_echo",
};
const GOALS = { module: "CPU 150 µs", builtin: "CPU 150 µs" };

export async function measureCalls(bench) {
  const [bare, remote] = await Promise.all([startServer("bare-http.mjs"), startServer("echo-http.mjs")]);
  try {
    const floor = await bareCalls(bench, bare);
    await withHub(kindsYard(bench.folder(), remote.url), { home: bench.folder() }, async (hub, modern) => {
      const legacy = await legacyClient(hub.url);
      try {
        for (const kind of Object.keys(TOOLS)) await callsOf(bench, kind, { hub, clients: { modern, legacy }, floor });
        await deaths(bench, modern);
      } finally {
        legacy.close();
      }
    });
  } finally {
    bare.stop();
    remote.stop();
  }
}

async function bareCalls({ quick, report }, server) {
  const client = modernClient(server.url);
  try {
    const { cpu, wall } = await measure(server.pid, () => client.call("echo", { text: "hello" }), {
      rounds: 8,
      count: quick ? 500 : 2000,
    });
    report("a bare handler that echoes JSON", `CPU ${ms(cpu)}, ${ms(wall)} each`);
    return cpu;
  } finally {
    client.close();
  }
}

async function callsOf({ quick, report }, kind, { hub, clients, floor }) {
  const isChild = kind === "script" || kind === "folder";
  const args = kind === "builtin" ? {} : { text: "hello" };
  const size = isChild ? { rounds: 5, count: quick ? 8 : 30 } : { rounds: 8, count: quick ? 300 : 1500 };
  const eras = Object.entries(clients);
  const measured = await measureInTurns(
    hub.pid,
    eras.map(
      ([, client]) =>
        () =>
          client.call(TOOLS[kind], args),
    ),
    size,
  );
  const shown = measured.map(
    ({ cpu, wall }, at) =>
      `${eras[at][0]}: CPU ${ms(cpu)}${isChild ? "" : ` (${(cpu / floor).toFixed(1)} × bare)`}, ${ms(wall)} each`,
  );
  report(`${kind}, one call at a time`, shown.join("; "), GOALS[kind]);
}

/**
 * Returns the CPU time and the wall-clock time of each work: the minimum of some rounds, after a warm-up round. The
 * works alternate, so that other load of the machine, and optimisation of the process, affect them equally.
 */
async function measureInTurns(pid, works, { rounds, count }) {
  const all = works.map(() => ({ cpu: [], wall: [] }));
  for (let round = 0; round <= rounds; round += 1) {
    for (const [at, work] of works.entries()) {
      const before = cpuMs(pid);
      const took = await timed(async () => {
        for (let turn = 0; turn < count; turn += 1) await work();
      });
      if (round === 0) continue;
      all[at].cpu.push((cpuMs(pid) - before) / count);
      all[at].wall.push(took / count);
    }
  }
  return all.map(({ cpu, wall }) => ({ cpu: least(cpu), wall: least(wall) }));
}

async function measure(pid, work, size) {
  const [measured] = await measureInTurns(pid, [work], size);
  return measured;
}

async function deaths({ quick, report }, client) {
  const took = [];
  for (let round = 0; round < (quick ? 4 : 15); round += 1) {
    const result = { isError: false };
    took.push(await timed(async () => void Object.assign(result, await client.call("child__die", {}))));
    if (!result.isError) throw new Error("A call whose child had exited was answered with a success.");
    await client.call("child__echo", { text: "again" });
  }
  report("a child's death to the caller's answer", `${ms(median(took))}, at most ${ms(Math.max(...took))}`, "200 ms");
}
