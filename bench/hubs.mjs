// CPU time of calls with a shared store: direct, with limits, and passed between two hubs. Also the memory of sessions.
// Usage: node scripts/build.mjs && node bench/hubs.mjs [calls]. Needs `redis-server`.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { freePort } from "../scripts/free-port.mjs";
import { cpuMs, memoryMb } from "./lib/measure.mjs";
import { createAgent, inParallel, openSession, post, startRedis } from "./lib/store-load.mjs";

const CALLS = Number(process.argv[2] ?? "6000");
const SESSIONS = 10_000;
const CLI = fileURLToPath(new URL("../packages/toolyard/dist/cli/main.js", import.meta.url));
const TOOLS = fileURLToPath(new URL("../test/cluster/tools", import.meta.url));
const agent = createAgent();
const folder = mkdtempSync(join(tmpdir(), "toolyard-bench-"));
const children = [];
let redis;

async function startHub(name, store, limits = "") {
  const port = await freePort();
  const file = join(folder, `${name}.toml`);
  const advertise = store?.advertise ? `advertise = "http://127.0.0.1:${port}"\n` : "";
  const section = store ? `[store]\nurl = "${store.url}"\n${advertise}` : "";
  const modules = `[modules]\npaths = [${JSON.stringify(TOOLS)}]\n`;
  const head = `[logging]\nlevel = "error"\n[builtin]\nexecute_code = false\n${modules}`;
  writeFileSync(file, `${head}${limits}${section}`);
  const env = { ...process.env, TOOLYARD_HOME: join(folder, name), COUNTS: join(folder, "counts") };
  const args = [CLI, "serve", "--config", file, "--port", String(port), "--json", "--no-watch"];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "ignore"], env });
  children.push(child);
  await once(createInterface({ input: child.stdout }), "line");
  return { port, pid: child.pid, agent };
}

/** Sends calls of one session. Returns the CPU time of the processes `pids` in microseconds per call. */
async function measure(holder, asked, pids) {
  const headers = await openSession(holder);
  const call = async (at) => {
    const params = { name: "echo", arguments: { key: "k" } };
    const { text } = await post(asked, { id: at + 2, method: "tools/call", params }, headers);
    if (!text.includes("echo k")) throw new Error(text);
  };
  await inParallel(CALLS, call);
  const before = pids.map(cpuMs);
  await inParallel(CALLS, call);
  return pids.map((pid, at) => Math.round(((cpuMs(pid) - before[at]) * 1000) / CALLS));
}

const LIMITS = "[limits]\nrate_per_minute = 100000000\n";
try {
  redis = await startRedis();
  const plain = await startHub("plain");
  const limited = await startHub("limited", undefined, LIMITS);
  const stored = await startHub("stored", redis);
  const storedLimits = await startHub("stored-limits", redis, LIMITS);
  const [first, second] = [
    await startHub("first", { ...redis, advertise: true }),
    await startHub("second", { ...redis, advertise: true }),
  ];
  const [third, fourth] = [await startHub("third", redis), await startHub("fourth", redis)];
  console.log("µs of CPU per call:");
  /** Lowest CPU time of all processes together, by load. */
  const lowest = {};
  const measured = async (name, ...args) => {
    const parts = await measure(...args);
    // The last process of three is Redis.
    lowest[name] = Math.min(lowest[name] ?? Infinity, parts[0] + (parts.length === 3 ? parts[1] : 0));
    console.log(name, parts);
  };
  for (let round = 0; round < 3; round += 1) {
    console.log("no store", await measure(plain, plain, [plain.pid]));
    console.log("no store, limits", await measure(limited, limited, [limited.pid]));
    console.log("store", await measure(stored, stored, [stored.pid, redis.pid]));
    console.log("store, limits (hub, redis)", await measure(storedLimits, storedLimits, [storedLimits.pid, redis.pid]));
    await measured("direct", first, first, [first.pid]);
    await measured("frames (holder, asked, redis)", first, second, [first.pid, second.pid, redis.pid]);
    await measured("store (holder, asked, redis)", third, fourth, [third.pid, fourth.pid, redis.pid]);
  }
  for (const [name, cost] of Object.entries(lowest))
    console.log(`${name}: ${(cost / lowest.direct).toFixed(2)} times a direct call`);
  const memory = () => [first.pid, redis.pid].map((pid) => memoryMb(pid).resident);
  const before = memory();
  await inParallel(SESSIONS, () => openSession(first));
  const after = memory();
  console.log(
    `${SESSIONS} sessions, MB (hub, redis):`,
    after.map((mb, at) => Math.round((mb - before[at]) * 10) / 10),
  );
} finally {
  agent.destroy();
  redis?.stop();
  for (const child of children) child.kill("SIGKILL");
  rmSync(folder, { recursive: true, force: true, maxRetries: 20 });
}
