// The event stream of the console while many calls arrive: what it sends, what it counts, and the memory of the hub.
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ServeChild } from "../support/serve-child.ts";

const CALLS = 2000;
const AT_ONCE = 20;
/** Default of `events_per_second`. */
const PER_SECOND = 50;
/** Growth that rounds of many calls may cause, such as compiled code. A leak of one record per call would be more. */
const MAX_GROWTH_BYTES = 600_000;

let folder: string;
let hub: ServeChild;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "toolyard-load-"));
  await mkdir(join(folder, "modules", "quick"), { recursive: true });
  await writeFile(
    join(folder, "modules", "quick", "mcp.mjs"),
    'export function registerTools(hub) {\n  hub.registerTool("quick.echo", ({ text }) => text);\n}\n',
  );
  hub = await ServeChild.start({
    config: {
      modules: { paths: [join(folder, "modules")] },
      limits: { rate_per_minute: 0 },
      logging: { level: "error", format: "json" },
    },
    reportsMemory: true,
  });
}, 60_000);
afterAll(async () => {
  await hub[Symbol.asyncDispose]();
  await rm(folder, { recursive: true });
});

const rootOf = (): string => hub.url.replace(/\/mcp$/, "");

async function callMany(): Promise<void> {
  const body = JSON.stringify({ text: "x" });
  const headers = { "content-type": "application/json" };
  for (let done = 0; done < CALLS; done += AT_ONCE)
    await Promise.all(
      Array.from({ length: AT_ONCE }, async () => {
        const response = await fetch(`${rootOf()}/api/tools/quick.echo`, { method: "POST", headers, body });
        expect(await response.text()).toContain("x");
      }),
    );
}

/** Runs calls while an event stream is open. Returns the events that it sent until it had counted all calls. */
async function withStream(): Promise<{ readonly sent: number; readonly skipped: number; readonly ticks: number }> {
  const aborter = new AbortController();
  const response = await fetch(`${rootOf()}/api/admin/events?topics=calls`, { signal: aborter.signal });
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  let text = (await reader.read()).value ?? "";
  const count = (pattern: RegExp): number => text.match(pattern)?.length ?? 0;
  const skipped = (): number => Number(Array.from(text.matchAll(/"skipped":(\d+)/g)).at(-1)?.[1] ?? 0);
  const calls = callMany();
  while (count(/^event: call$/gm) + skipped() < CALLS) text += (await reader.read()).value ?? "";
  await calls;
  aborter.abort();
  return { sent: count(/^event: call$/gm), skipped: skipped(), ticks: count(/^event: figures$/gm) };
}

test("the stream sends a limited number of calls per second and counts every other call", async () => {
  const { sent, skipped, ticks } = await withStream();
  expect(sent + skipped).toBe(CALLS);
  expect(sent).toBeGreaterThanOrEqual(PER_SECOND);
  expect(sent).toBeLessThanOrEqual(PER_SECOND * (ticks + 1));
}, 120_000);

test("the memory of the hub does not grow over rounds of calls with an event stream", async () => {
  await withStream();
  await withStream();
  const before = await hub.memory();
  for (let round = 0; round < 3; round += 1) await withStream();
  const after = await hub.memory();
  expect(after.heapUsed - before.heapUsed).toBeLessThan(MAX_GROWTH_BYTES);
  expect(after.resources).toBeLessThanOrEqual(before.resources + AT_ONCE);
}, 180_000);
