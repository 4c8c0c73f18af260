// The console: the first view, a long list, the memory of an idle hub, and a stream of many calls.
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { modernClient, startHub, withHub } from "../lib/hub.mjs";
import { cpuMs, least, median, memoryMb, ms } from "../lib/measure.mjs";
import { modulesYard } from "../lib/yards.mjs";

const CHROMIUM = process.env.CHROMIUM ?? "/usr/bin/chromium";
const pause = (milliseconds) => new Promise((done) => void setTimeout(done, milliseconds));
const rootOf = ({ url }) => url.replace(/\/mcp$/, "");

export async function measureConsole(bench) {
  await idle(bench);
  if (existsSync(CHROMIUM)) await inBrowser(bench);
  else bench.note(`The views of the console were not measured: there is no ${CHROMIUM}.`);
  await streamed(bench);
}

/** Measures the resident memory of hubs with and without the console, in turns. */
async function idle({ quick, folder, report }) {
  const place = folder();
  const [on, off] = ["true", "false"].map((enabled) => {
    const file = join(place, `${enabled}.toml`);
    writeFileSync(file, `[console]\nenabled = ${enabled}\n`);
    return file;
  });
  const used = { on: [], off: [] };
  for (let round = 0; round < (quick ? 5 : 15); round += 1)
    for (const [name, config] of Object.entries({ on, off })) used[name].push(await idleMb(config, folder()));
  const more = median(used.on) - median(used.off);
  report(
    "idle hub with the console",
    `${more.toFixed(2)} MB more (median of ${median(used.off).toFixed(1)} MB)`,
    "1 MB",
  );
}

async function idleMb(config, home) {
  return withHub(config, { home }, async (hub, client) => {
    await client.list();
    await pause(300);
    return memoryMb(hub.pid).resident;
  });
}

async function inBrowser(bench) {
  const { chromium } = await import("playwright-core");
  const browser = await chromium.launch({
    executablePath: CHROMIUM,
    args: ["--no-sandbox", "--disable-dev-shm-usage"],
  });
  try {
    await firstView(bench, browser);
    await longList(bench, browser);
  } finally {
    await browser.close();
  }
}

/**
 * Measures the time from the navigation of a browser without a cache to the numbers of the overview, with 5,000 tools.
 */
async function firstView({ quick, folder, report }, browser) {
  await withHub(modulesYard(folder(), 5000), { home: folder() }, async (hub, client) => {
    await client.list();
    const took = [];
    for (let round = 0; round < (quick ? 5 : 15); round += 1) {
      const page = await (await browser.newContext()).newPage();
      await page.goto(`${rootOf(hub)}/console/`);
      await page.locator(".figure").first().waitFor();
      took.push(await page.evaluate(() => performance.now()));
      await page.context().close();
    }
    report("first view of the console, 5,000 tools", `${ms(least(took))} (median ${ms(median(took))})`, "400 ms");
  });
}

/** Scrolls a list of 10,000 tools in 200 steps, and measures shifts of the layout and the longest frame. */
async function longList({ folder, report }, browser) {
  await withHub(modulesYard(folder(), 10_000), { home: folder() }, async (hub, client) => {
    await client.list();
    const page = await (await browser.newContext()).newPage();
    await page.goto(`${rootOf(hub)}/console/#/tools`);
    await page.locator(".tool-name").first().waitFor();
    const { shift, longest, empty, rows } = await page.evaluate(scroll);
    const figures = `longest frame ${ms(longest)}, ${rows} rows in the document, ${empty} frames without a row`;
    report("scrolling 10,000 tools", `shift of the layout ${shift.toFixed(3)}, ${figures}`, "no shift");
  });
}

/** This function runs in the page. */
async function scroll() {
  const list = document.querySelector(".virtual");
  let shift = 0;
  new PerformanceObserver((seen) => {
    for (const entry of seen.getEntries()) shift += entry.value;
  }).observe({ type: "layout-shift" });
  const frame = () => new Promise((done) => requestAnimationFrame(done));
  const step = list.scrollHeight / 200;
  let [longest, empty, last] = [0, 0, performance.now()];
  for (let at = 0; at < 200; at += 1) {
    list.scrollTop += step;
    await frame();
    const box = list.getBoundingClientRect();
    const middle = document.elementFromPoint(box.x + 50, box.y + box.height / 2);
    if (!middle?.closest(".virtual-row")) empty += 1;
    longest = Math.max(longest, performance.now() - last);
    last = performance.now();
  }
  return { shift, longest, empty, rows: document.querySelectorAll(".virtual-row").length };
}

/**
 * Makes about 1,000 calls per second with an event stream, and measures the cost of the stream and the numbers of sent
 * and counted events.
 */
async function streamed({ quick, folder, report }) {
  const seconds = quick ? 5 : 20;
  const hub = await startHub(modulesYard(folder(), 10), { home: folder() });
  try {
    const [warm, without, during] = [await load(hub, 2), await load(hub, seconds), await withStream(hub, seconds)];
    const cost = `CPU per call ${ms(during.cpu)} with it, ${ms(without.cpu)} without (warmed up: ${ms(warm.cpu)})`;
    const sent = `${during.sent} sent, ${during.skipped} counted of ${during.calls}`;
    report(
      `event stream at ${Math.round(during.calls / seconds)} calls per second`,
      `${cost}; ${sent}`,
      "50 per second",
    );
  } finally {
    await hub.stop();
  }
}

/** Makes calls at a steady rate for some seconds. */
async function load(hub, seconds) {
  const client = modernClient(hub.url);
  const before = cpuMs(hub.pid);
  let calls = 0;
  const until = performance.now() + seconds * 1000;
  const running = new Set();
  while (performance.now() < until) {
    for (let at = 0; at < 10; at += 1) {
      const call = client.call("many.tool_0", { text: "x" }).finally(() => running.delete(call));
      running.add(call);
      calls += 1;
    }
    await pause(10);
    if (running.size > 100) await Promise.race(running);
  }
  await Promise.all(running);
  client.close();
  return { calls, cpu: (cpuMs(hub.pid) - before) / calls };
}

async function withStream(hub, seconds) {
  const aborter = new AbortController();
  const response = await fetch(`${rootOf(hub)}/api/admin/events?topics=calls`, { signal: aborter.signal });
  let text = "";
  const read = (async () => {
    for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) text += chunk;
  })().catch(() => {});
  const loaded = await load(hub, seconds);
  await pause(1100);
  aborter.abort();
  await read;
  const sent = text.match(/^event: call$/gm)?.length ?? 0;
  const skipped = Number(Array.from(text.matchAll(/"skipped":(\d+)/g)).at(-1)?.[1] ?? 0);
  return { ...loaded, sent, skipped };
}
