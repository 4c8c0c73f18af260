// `npm run soak -- --console [--minutes 60 --rate 100]`: a hub with steady calls and an open console in Chromium.
// Reports the heap of the page and the memory of the hub each minute, and fails if one of them grows.
import { existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { chromium } from "playwright-core";
import { modernClient, startHub } from "../bench/lib/hub.mjs";
import { memoryMb } from "../bench/lib/measure.mjs";
import { modulesYard } from "../bench/lib/yards.mjs";

const PROGRAM = process.env.CHROMIUM ?? "/usr/bin/chromium";
const MAX_MINUTES = 24 * 60;
/** Growth of the page's heap, from the end of the warm-up to the end, that is no leak. */
const MAX_PAGE_GROWTH_MB = 3;
/**
 * Growth of the resident memory of the hub that is no leak: V8 enlarges its young generation by about 18 MB under
 * load.
 */
const MAX_HUB_GROWTH_MB = 25;
/** Part of the time in which caches fill. */
const WARM_UP = 0.3;
const VIEWS = ["calls", "overview", "logs", "tools", "sources", "tasks"];

const { values } = parseArgs({
  options: { minutes: { type: "string", default: "60" }, rate: { type: "string", default: "100" } },
});
const [minutes, rate] = [Number(values.minutes), Number(values.rate)];
if (!(minutes > 0 && minutes <= MAX_MINUTES && rate > 0 && rate <= 2000))
  throw new Error(`--minutes must be from 0 to ${MAX_MINUTES}, and --rate from 1 to 2000 calls per second.`);
if (!existsSync(PROGRAM)) throw new Error(`There is no ${PROGRAM}. Set CHROMIUM to the browser.`);

const folder = mkdtempSync(join(tmpdir(), "toolyard-soak-"));
const pause = (milliseconds) => new Promise((done) => void setTimeout(done, milliseconds));

/** Calls a tool at a steady rate. Returns the function that ends it and resolves with the number of calls. */
function callSteadily(url) {
  const client = modernClient(url);
  const started = performance.now();
  let [calls, failed] = [0, 0];
  const running = new Set();
  const timer = setInterval(() => {
    const due = Math.floor(((performance.now() - started) * rate) / 1000);
    for (; calls < due && running.size < 200; calls += 1) {
      const call = client
        .call("many.tool_0", { text: `call ${calls}` })
        .catch(() => void (failed += 1))
        .finally(() => running.delete(call));
      running.add(call);
    }
  }, 20);
  return async () => {
    clearInterval(timer);
    await Promise.all(running);
    client.close();
    return { calls, failed, perSecond: (calls * 1000) / (performance.now() - started) };
  };
}

/** Returns the heap of the page after a collection, in MB. */
async function pageHeap(session) {
  await session.send("HeapProfiler.collectGarbage");
  const { usedSize } = await session.send("Runtime.getHeapUsage");
  return usedSize / 1e6;
}

mkdirSync(join(folder, "home"));
const hub = await startHub(modulesYard(folder, 10), { home: join(folder, "home") });
const browser = await chromium.launch({ executablePath: PROGRAM, args: ["--no-sandbox", "--disable-dev-shm-usage"] });
const rows = [];
try {
  const page = await (await browser.newContext()).newPage();
  const root = hub.url.replace(/\/mcp$/, "");
  await page.goto(`${root}/console/`);
  await page.locator(".live.on").waitFor();
  const session = await page.context().newCDPSession(page);
  const stop = callSteadily(hub.url);
  const samples = Math.max(10, Math.round(minutes));
  for (let at = 0; at < samples; at += 1) {
    for (const view of VIEWS) {
      await page.evaluate((name) => void (location.hash = `#/${name}`), view);
      await pause((minutes * 60_000) / samples / VIEWS.length);
    }
    const row = {
      minute: ((at + 1) * minutes) / samples,
      page: await pageHeap(session),
      hub: memoryMb(hub.pid).resident,
    };
    rows.push(row);
    console.log(`${row.minute.toFixed(1)} min  page ${row.page.toFixed(1)} MB  hub ${row.hub.toFixed(1)} MB`);
  }
  const { calls, failed, perSecond } = await stop();
  console.log(`${calls} calls, ${failed} failed, ${perSecond.toFixed(0)} per second`);
} finally {
  await browser.close();
  await hub.stop();
  rmSync(folder, { recursive: true, force: true, maxRetries: 20 });
}

/** Returns the growth from the mean of the first third after the warm-up to the mean of the last third. */
function growth(name) {
  const kept = rows.slice(Math.floor(rows.length * WARM_UP)).map((row) => row[name]);
  const third = Math.max(1, Math.floor(kept.length / 3));
  const mean = (part) => part.reduce((sum, one) => sum + one, 0) / part.length;
  return mean(kept.slice(-third)) - mean(kept.slice(0, third));
}

const [pageGrowth, hubGrowth] = [growth("page"), growth("hub")];
console.log(`growth after the warm-up: page ${pageGrowth.toFixed(2)} MB, hub ${hubGrowth.toFixed(2)} MB`);
if (pageGrowth > MAX_PAGE_GROWTH_MB || hubGrowth > MAX_HUB_GROWTH_MB) process.exitCode = 1;
