// Large lists: a thousand scripts on disk, ten thousand tools in the catalog.
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { withHub } from "../lib/hub.mjs";
import { cpuMs, least, median, ms, timed } from "../lib/measure.mjs";
import { modulesYard, scriptsYard } from "../lib/yards.mjs";

export async function measureLists(bench) {
  await warmScripts(bench, 1000);
  await catalogued(bench, 10_000);
}

async function warmScripts({ quick, folder, report }, count) {
  const { config, tools } = scriptsYard(folder(), count);
  await withHub(config, { home: folder() }, async (hub, client) => {
    const first = await cpuOf(hub, () => client.list());
    // A file that changed a moment ago is not trusted yet.
    await new Promise((done) => void setTimeout(done, 200));
    const [listed, swept, used] = [[], [], []];
    for (let round = 0; round < (quick ? 30 : 150); round += 1) {
      used.push(await cpuOf(hub, async () => void listed.push(await timed(() => client.list()))));
      swept.push(await timed(() => statSweep(tools)));
    }
    const ratio = least(listed) / least(swept);
    report(
      `warm tools/list, ${count} script tools`,
      `${ms(least(listed))}, ${ratio.toFixed(2)} × sweep (${ms(least(swept))}; medians ${(median(listed) / median(swept)).toFixed(2)} ×), CPU ${ms(least(used))}; first ${ms(first)}`,
      "1.3 × sweep",
    );
  });
}

/** What freshness cannot be had without: one stat for each folder and file, asked as cheaply as Node can. */
function statSweep(folder) {
  for (const name of readdirSync(folder)) {
    const inner = join(folder, name);
    statSync(inner);
    for (const file of readdirSync(inner)) statSync(join(inner, file));
  }
}

async function catalogued({ quick, folder, report }, count) {
  await withHub(modulesYard(folder(), count), { home: folder() }, async (hub, client) => {
    const first = await cpuOf(hub, () => client.list());
    const used = [];
    for (let round = 0; round < (quick ? 15 : 60); round += 1) used.push(await cpuOf(hub, () => client.list()));
    report(`tools/list, ${count} catalogued tools`, `first CPU ${ms(first)}, then ${ms(least(used))} (median ${ms(median(used))})`);
  });
}

async function cpuOf(hub, work) {
  const before = cpuMs(hub.pid);
  await work();
  return cpuMs(hub.pid) - before;
}
