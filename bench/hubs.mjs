// CPU time of calls with a shared store: direct, with limits, and passed between two hubs. Also the memory of sessions.
// Usage: node scripts/build.mjs && node bench/hubs.mjs [calls]. Needs `redis-server`.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { Agent, request } from "node:http";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const CALLS = Number(process.argv[2] ?? "6000");
const CALLERS = 16;
const SESSIONS = 10_000;
const CLI = fileURLToPath(new URL("../packages/toolyard/dist/cli/main.js", import.meta.url));
const TOOLS = fileURLToPath(new URL("../test/cluster/tools", import.meta.url));
const agent = new Agent({ keepAlive: true, maxSockets: CALLERS });
const folder = mkdtempSync(join(tmpdir(), "toolyard-bench-"));
const children = [];

async function freePort() {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address();
  server.close();
  return port;
}

function start(program, args, options = {}) {
  const child = spawn(program, args, { stdio: ["ignore", "pipe", "ignore"], ...options });
  children.push(child);
  return child;
}

async function startRedis() {
  const port = await freePort();
  const child = start("redis-server", ["--port", String(port), "--bind", "127.0.0.1", "--save", "", "--dir", folder]);
  for await (const chunk of child.stdout) if (String(chunk).includes("Ready to accept")) break;
  return { url: `redis://127.0.0.1:${port}`, pid: child.pid };
}

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
  const child = start(process.execPath, args, { env });
  await once(createInterface({ input: child.stdout }), "line");
  return { port, pid: child.pid };
}

/** CPU time of a process in microseconds. */
function cpuOf(pid) {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1].split(" ");
  return (Number(fields[11]) + Number(fields[12])) * 10_000;
}

function residentMb(pid) {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))[1]) / 1024;
}

function post(port, message, headers = {}) {
  return new Promise((resolve, reject) => {
    const body = JSON.stringify({ jsonrpc: "2.0", ...message });
    const all = {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      "content-length": Buffer.byteLength(body),
      ...headers,
    };
    const sent = request({ agent, host: "127.0.0.1", port, path: "/mcp", method: "POST", headers: all }, (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (chunk) => (text += chunk));
      response.on("end", () => resolve({ response, text }));
    });
    sent.on("error", reject);
    sent.end(body);
  });
}

async function openSession(port) {
  const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "bench", version: "1" } };
  const { response } = await post(port, { id: 1, method: "initialize", params });
  const headers = { "mcp-session-id": response.headers["mcp-session-id"], "mcp-protocol-version": "2025-11-25" };
  await post(port, { method: "notifications/initialized" }, headers);
  return headers;
}

/** Sends calls of one session and returns the CPU time of these processes in microseconds per call. */
async function measure(holder, asked, pids) {
  const headers = await openSession(holder.port);
  const call = async (id) => {
    const params = { name: "echo", arguments: { key: "k" } };
    const { text } = await post(asked.port, { id, method: "tools/call", params }, headers);
    if (!text.includes("echo k")) throw new Error(text);
  };
  const run = async (count) => {
    let id = 10;
    await Promise.all(
      Array.from({ length: CALLERS }, async () => {
        while (id < count) await call((id += 1));
      }),
    );
  };
  await run(CALLS);
  const before = pids.map(cpuOf);
  await run(CALLS);
  return pids.map((pid, at) => Math.round((cpuOf(pid) - before[at]) / CALLS));
}

const LIMITS = "[limits]\nrate_per_minute = 100000000\n";
try {
  const redis = await startRedis();
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
  for (let round = 0; round < 3; round += 1) {
    console.log("no store", await measure(plain, plain, [plain.pid]));
    console.log("no store, limits", await measure(limited, limited, [limited.pid]));
    console.log("store", await measure(stored, stored, [stored.pid, redis.pid]));
    console.log("store, limits (hub, redis)", await measure(storedLimits, storedLimits, [storedLimits.pid, redis.pid]));
    console.log("direct", await measure(first, first, [first.pid]));
    console.log("HTTP (holder, asked, redis)", await measure(first, second, [first.pid, second.pid, redis.pid]));
    console.log("store (holder, asked, redis)", await measure(third, fourth, [third.pid, fourth.pid, redis.pid]));
  }
  const before = [residentMb(first.pid), residentMb(redis.pid)];
  let opened = 0;
  await Promise.all(
    Array.from({ length: CALLERS }, async () => {
      while (opened < SESSIONS) {
        opened += 1;
        await openSession(first.port);
      }
    }),
  );
  const after = [residentMb(first.pid), residentMb(redis.pid)];
  console.log(
    `${SESSIONS} sessions, MB (hub, redis):`,
    after.map((mb, at) => Math.round((mb - before[at]) * 10) / 10),
  );
} finally {
  agent.destroy();
  for (const child of children) child.kill("SIGKILL");
  rmSync(folder, { recursive: true, force: true, maxRetries: 20 });
}
