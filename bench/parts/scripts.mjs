// The cost of a script tool's call: a process per call, a persistent interpreter, and each behind bubblewrap.
import { spawnSync } from "node:child_process";
import { chmodSync } from "node:fs";
import { withHub } from "../lib/hub.mjs";
import { cpuMs, least, median, ms, timed } from "../lib/measure.mjs";
import { runtimesYard } from "../lib/yards.mjs";

const GOALS = { "python, warm": "2 ms", "node, warm": "2 ms" };

export async function measureScripts(bench) {
  const { quick, report } = bench;
  const hasBwrap = spawnSync("bwrap", ["--version"]).status === 0;
  const folder = bench.folder();
  const { config, tools } = runtimesYard(folder, hasBwrap);
  // If the benchmark runs as root, the contained program is user `nobody` and must be able to read the folder.
  chmodSync(folder, 0o755);
  await withHub(config, { home: bench.folder() }, async (hub, client) => {
    for (const { name, what, isWarm } of tools) {
      const first = await timed(() => client.call(name, { text: "hello" }));
      const count = isWarm ? (quick ? 200 : 1000) : quick ? 5 : 20;
      const [walls, cpus] = [[], []];
      for (let round = 0; round < (isWarm ? 5 : 3); round += 1) {
        const before = cpuMs(hub.pid);
        const took = await timed(async () => {
          for (let turn = 0; turn < count; turn += 1) await client.call(name, { text: "hello" });
        });
        walls.push(took / count);
        cpus.push((cpuMs(hub.pid) - before) / count);
      }
      report(
        `script call: ${what}`,
        `${ms(least(walls))} each (median ${ms(median(walls))}), CPU of the hub ${ms(least(cpus))}; ` +
          `the first ${ms(first)}`,
        GOALS[what],
      );
    }
  });
}
