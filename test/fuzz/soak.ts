// `npm run soak`: more malformed requests than the tests send, then mixed calls with crashing children for some
// minutes, then a thousand open streams with steady calls, then children and a remote killed at random. Prints the
// resources that the hub still holds, and ends with code 1 if an answer was wrong or a resource grew.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { HttpWire } from "../fixtures/raw/http-wire.ts";
import { RawClient } from "../fixtures/raw/raw-client.ts";
import { createRandom } from "../support/random.ts";
import { descendants, ServeChild, type MemoryReport, type ServeOptions } from "../support/serve-child.ts";
import { runKills } from "../endpoints/kill-run.ts";
import { FUZZ_CONFIG } from "./fuzz-config.ts";
import { HttpDriver } from "./http-driver.ts";
import { runMixedLoad, type Tally } from "./mixed-load.ts";
import { runOpenStreams } from "./open-streams.ts";
import { SseDriver, StdioDriver } from "./stream-driver.ts";

const { values } = parseArgs({
  options: {
    cases: { type: "string", default: "100000" },
    minutes: { type: "string", default: "4" },
    streams: { type: "string", default: "1000" },
    "stream-minutes": { type: "string", default: "10" },
    kills: { type: "string", default: "1000" },
    seed: { type: "string", default: "20260728" },
  },
});
const CASES = Number(values.cases);
const MINUTES = Math.min(Number(values.minutes), 60);
const STREAMS = Number(values.streams);
const STREAM_MINUTES = Math.min(Number(values["stream-minutes"]), 60);
const CALLS_PER_SECOND = 100;
const KILLS = Number(values.kills);
const SEED = Number(values.seed);
const ROUNDS = 5;
const SAMPLES = 8;
const WORKERS = 24;
const MAX_CALLS = 2_000_000;
/** Difference between two moments after equal work. */
const HEAP_NOISE_BYTES = 12_000_000;
const RSS_NOISE_BYTES = 64_000_000;
const RESOURCE_NOISE = 12;
/**
 * Time for which events of lost streams are kept (`sessions.replay`); after it the heap with open streams is constant.
 */
const KEPT_MINUTES = 5;
const STREAMS_NOISE_BYTES = 3_000_000;

const problems: string[] = [];
const megabytes = (bytes: number): string => (bytes / 1e6).toFixed(1);

function row(...cells: readonly (string | number)[]): void {
  console.log(cells.map((cell) => String(cell).padStart(12)).join(" "));
}

function compareReports(what: string, before: MemoryReport, after: MemoryReport): void {
  if (after.heapUsed - before.heapUsed > HEAP_NOISE_BYTES)
    problems.push(`${what}: the heap grew by ${megabytes(after.heapUsed - before.heapUsed)} MB`);
  if (after.rss - before.rss > RSS_NOISE_BYTES)
    problems.push(`${what}: the process grew by ${megabytes(after.rss - before.rss)} MB`);
  if (after.resources - before.resources > RESOURCE_NOISE)
    problems.push(`${what}: it holds ${after.resources - before.resources} more sockets, timers and the like`);
}

interface Driver {
  run(cases: number, seed: number): Promise<void>;
  close?(): void;
}

/** Closes explicitly: the transformer that runs this file does not support `await using`. */
async function withServed(options: ServeOptions, work: (served: ServeChild) => Promise<void>): Promise<void> {
  const served = await ServeChild.start({ ...options, reportsMemory: true });
  try {
    await work(served);
  } finally {
    await served[Symbol.asyncDispose]();
  }
}

interface FuzzOptions {
  readonly what: string;
  readonly cases: number;
  readonly seed: number;
  open(served: ServeChild): Promise<Driver>;
}

async function fuzz({ what, cases, seed, open }: FuzzOptions, served: ServeChild): Promise<void> {
  const driver = await open(served);
  console.log(`\n${what}: ${cases} cases from seed ${seed}`);
  row("cases", "seconds", "heap MB", "rss MB", "resources");
  const startedAt = performance.now();
  let first: MemoryReport | undefined;
  for (let round = 1; round <= ROUNDS; round += 1) {
    await driver.run(Math.ceil(cases / ROUNDS), seed + round * 1_000_000);
    const report = await served.memory();
    row(
      Math.ceil((cases / ROUNDS) * round),
      ((performance.now() - startedAt) / 1000).toFixed(1),
      megabytes(report.heapUsed),
      megabytes(report.rss),
      report.resources,
    );
    first ??= report;
    if (round === ROUNDS) compareReports(what, first, report);
  }
  driver.close?.();
  const faults = served.log.lines.filter(({ level, facts }) => level === "error" && facts["source"] !== "modules");
  if (faults.length > 0) problems.push(`${what}: the log has faults: ${JSON.stringify(faults.slice(0, 3))}`);
}

async function mixed(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "toolyard-soak-"));
  mkdirSync(join(folder, "shell"));
  writeFileSync(join(folder, "shell", "tool.toml"), 'name = "shell"\ndescription = "Says hello."\nscript = "run.sh"\n');
  writeFileSync(join(folder, "shell", "run.sh"), "#!/bin/sh\necho hello\n", { mode: 0o755 });
  const command = FUZZ_CONFIG.mcp!.stdio_servers!["up"]!.command;
  const config = {
    ...FUZZ_CONFIG,
    server: { ...FUZZ_CONFIG.server, sessions: { ...FUZZ_CONFIG.server!.sessions, idle: "5s" } },
    scripts: { tools_path: folder },
    mcp: { stdio_servers: { sturdy: { command, timeout: "10s" }, crashing: { command } } },
  };
  await withServed({ config }, callAndCrash);
  rmSync(folder, { recursive: true, force: true });
}

async function callAndCrash(served: ServeChild): Promise<void> {
  const tally: Tally = { counts: new Map(), calls: 0 };
  const random = createRandom(SEED);
  const load = (untilMs: number): Promise<void> =>
    runMixedLoad({ url: served.url, workers: WORKERS, untilMs, maxCalls: MAX_CALLS, random, tally });
  console.log(`\nmixed calls: ${WORKERS} callers, ${MINUTES} minutes, seed ${SEED}`);
  row("seconds", "calls", "processes", "heap MB", "rss MB", "resources");
  const startedAt = performance.now();
  const reports: MemoryReport[] = [];
  let processes = 0;
  for (let sample = 1; sample <= SAMPLES; sample += 1) {
    await load(startedAt + (MINUTES * 60_000 * sample) / SAMPLES);
    processes = await settledProcesses(served);
    const report = await served.memory();
    reports.push(report);
    row(
      ((performance.now() - startedAt) / 1000).toFixed(0),
      tally.calls,
      processes,
      megabytes(report.heapUsed),
      megabytes(report.rss),
      report.resources,
    );
    if (processes !== 2) problems.push(`mixed calls: ${processes} processes at rest where the two servers are wanted`);
  }
  compareReports("mixed calls", reports[1]!, reports.at(-1)!);
  console.log(`\nhow calls ended: ${JSON.stringify(Object.fromEntries([...tally.counts].toSorted()), null, 1)}`);
  const pids = descendants(served.pid);
  served.signal("SIGTERM");
  const exit = await served.exited;
  if (exit.code !== 0) problems.push(`mixed calls: it ended with ${JSON.stringify(exit)}`);
  const left = pids.filter((pid) => descendants(1).includes(pid));
  if (left.length > 0) problems.push(`mixed calls: ${left.length} processes were left behind`);
}

/**
 * Returns the number of the hub's processes at rest, with both servers running. A server that crashed often is
 * restarted by a call, or after an increasing pause. A script that has just answered may still be exiting.
 */
async function settledProcesses({ url, pid }: ServeChild): Promise<number> {
  const client = await RawClient.open(new HttpWire(url, "modern"), { era: "modern" });
  for (let look = 0; look < 100; look += 1) {
    const answers = await Promise.all(["sturdy__pid", "crashing__pid"].map((name) => client.tool(name)));
    if (answers.every(({ isError }) => isError !== true) && descendants(pid).length === 2) break;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  await client.close();
  return descendants(pid).length;
}

async function fuzzAll(): Promise<void> {
  await withServed({ config: FUZZ_CONFIG }, (served) =>
    fuzz(
      {
        what: "Streamable HTTP, both eras",
        cases: Math.ceil(CASES * 0.4),
        seed: SEED,
        open: async ({ url }) => new HttpDriver(url),
      },
      served,
    ),
  );
  const openSse = async ({ url }: ServeChild): Promise<Driver> => {
    const driver = new SseDriver(url);
    await driver.open();
    return driver;
  };
  await withServed({ config: FUZZ_CONFIG }, (served) =>
    fuzz({ what: "HTTP+SSE", cases: Math.ceil(CASES * 0.2), seed: SEED + 10_000_000, open: openSse }, served),
  );
  await withServed({ config: FUZZ_CONFIG, endpoint: "stdio" }, (served) =>
    fuzz(
      {
        what: "stdio, both eras",
        cases: Math.ceil(CASES * 0.4),
        seed: SEED + 20_000_000,
        open: async (child) => new StdioDriver(child),
      },
      served,
    ),
  );
}

async function openStreams(): Promise<void> {
  console.log(`\n${STREAMS} open streams, ${CALLS_PER_SECOND} calls a second, ${STREAM_MINUTES} minutes`);
  row("calls", "p50 ms", "p99 ms", "most ms", "slow readers", "heap MB", "rss MB", "resources");
  const { minutes, notifications, due, stillOpen } = await runOpenStreams(
    { streams: STREAMS, minutes: STREAM_MINUTES, callsPerSecond: CALLS_PER_SECOND },
    ({ calls, p50, p99, most, hasSlowCallers, memory }) =>
      row(
        calls,
        p50.toFixed(1),
        p99.toFixed(1),
        most.toFixed(0),
        hasSlowCallers ? "yes" : "no",
        megabytes(memory.heapUsed),
        megabytes(memory.rss),
        memory.resources,
      ),
  );
  console.log(
    `readers received ${notifications} notifications of ${due} due ones; ${stillOpen} of their streams are open`,
  );
  const flat = minutes[KEPT_MINUTES] ?? minutes[0]!;
  const last = minutes.at(-1)!;
  compareReports("open streams", flat.memory, last.memory);
  const grownBytes = last.memory.heapUsed - flat.memory.heapUsed;
  if (minutes.length > KEPT_MINUTES && grownBytes > STREAMS_NOISE_BYTES)
    problems.push(
      `open streams: the heap grew by ${megabytes(grownBytes)} MB after the buffers for lost streams were full`,
    );
  if (notifications < due * 0.9) problems.push(`open streams: ${due - notifications} notices are missing`);
}

async function killAtRandom(): Promise<void> {
  console.log(`\nchildren and a remote killed at random: ${KILLS} kills, seed ${SEED}`);
  const report = await runKills({ kills: KILLS, seed: SEED });
  console.log(JSON.stringify(report, null, 1));
  problems.push(...report.problems.map((problem) => `kills: ${problem}`));
}

const beganAt = performance.now();
if (CASES > 0) await fuzzAll();
if (MINUTES > 0) await mixed();
if (STREAMS > 0) await openStreams();
if (KILLS > 0) await killAtRandom();
console.log(
  `\n${problems.length === 0 ? "nothing grew, nothing was answered wrongly" : problems.join("\n")} ` +
    `(${((performance.now() - beganAt) / 60_000).toFixed(1)} minutes)`,
);
process.exit(problems.length === 0 ? 0 : 1);
