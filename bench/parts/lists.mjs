// Large lists: a thousand scripts on disk, ten thousand tools in the catalog.
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { withHub } from "../lib/hub.mjs";
import { cpuMs, least, median, ms, spread, timed } from "../lib/measure.mjs";
import { modulesYard, scriptsYard } from "../lib/yards.mjs";

/** Time within which a module of ten thousand tools is imported and catalogued. */
const SETTLED_MS = 1500;

export async function measureLists(bench) {
  await warmScripts(bench, 1000);
  await catalogued(bench, 10_000);
}

async function warmScripts({ quick, folder, report }, count) {
  const { config, tools } = scriptsYard(folder(), count);
  const paths = pathsOf(tools);
  await withHub(config, { home: folder() }, async (hub, client) => {
    const first = await cpuOf(hub, () => client.list());
    // The hub does not rely on the timestamps of a recently changed file yet.
    await new Promise((done) => void setTimeout(done, 200));
    const [listed, swept, used] = [[], [], []];
    for (let round = 0; round < (quick ? 40 : 200); round += 1) {
      used.push(await cpuOf(hub, async () => void listed.push(await timed(() => client.listText()))));
      swept.push(await timed(() => paths.forEach((path) => statSync(path))));
    }
    const times = (values) => `${(least(values) / least(swept)).toFixed(2)} ×`;
    report(
      `warm tools/list, ${count} script tools`,
      `CPU ${ms(least(used))}, ${times(used)} sweep; last byte after ${ms(least(listed))}, ${times(listed)} ` +
        `sweep (${spread(swept)}); first CPU ${ms(first)}`,
      "1.3 × sweep",
    );
  });
}

/**
 * Returns the paths of each tool's folder and manifest. Reading their stamps is the least that a check for changes
 * costs.
 */
function pathsOf(tools) {
  return [tools, ...readdirSync(tools).flatMap((name) => [join(tools, name), join(tools, name, "tool.toml")])];
}

async function catalogued({ quick, folder, report }, count) {
  const config = modulesYard(folder(), count);
  const [firsts, used] = [[], []];
  for (let start = 0; start < (quick ? 2 : 6); start += 1) {
    await withHub(config, { home: folder() }, async (hub, client) => {
      // Waits until the modules are read and their registrations are in the catalog.
      await new Promise((done) => void setTimeout(done, SETTLED_MS));
      firsts.push(await cpuOf(hub, () => client.listText()));
      for (let round = 0; round < 15; round += 1) used.push(await cpuOf(hub, () => client.listText()));
    });
  }
  const both = (values) => `${ms(least(values))} (median ${ms(median(values))})`;
  report(
    `tools/list, ${count} catalogued tools`,
    `first CPU ${both(firsts)}, the first request; then ${both(used)}`,
    "10 ms, then 2 ms",
  );
}

async function cpuOf(hub, work) {
  const before = cpuMs(hub.pid);
  await work();
  return cpuMs(hub.pid) - before;
}
