// `npm run bench:peers [-- --calls 2000]`: the same stdio echo server behind Toolyard and behind its peers, each asked by the same client with
// 1, 32 and 256 callers, in rounds that alternate. Throughput as a ratio to a direct call, and CPU of the gateway's own process a call.
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { Client } from "undici";
import { ensureInstalled } from "../../scripts/tools.mjs";
import { cpuMs, ms } from "../lib/measure.mjs";
import { CONTESTANTS, freePort } from "./contestants.mjs";

const calls = Number(process.argv[process.argv.indexOf("--calls") + 1]) || 2000;
const ROUNDS = 3;
const nodes = ensureInstalled("test/nodes");
ensureInstalled("bench/peers");
const nodeOf = (major) => (major === undefined ? process.execPath : join(nodes, `node${major}`, "bin/node"));

const running = [];
process.once("exit", () => running.forEach(({ child }) => kill(child)));
process.once("SIGINT", () => process.exit(130));

for (const { name, needs, start } of CONTESTANTS) {
  try {
    const started = await start(await freePort(), nodeOf(needs), running[0]?.url);
    running.push(started);
    running[running.length - 1].contestant = name;
    started.callers = await ready(started);
    console.log(`${name}: up`);
  } catch (error) {
    console.log(`${name}: left out, ${error.message}`);
    const failed = running.find((one) => one.contestant === name);
    if (failed) failed.isOut = true;
  }
}

console.log(`\n| gateway | callers | calls a second | against direct | CPU of the gateway a call | p50 | p99 |\n|---|---:|---:|---:|---:|---:|---:|`);
for (const count of [1, 32, 256]) {
  const best = new Map();
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const one of running) {
      if (one.isOut) continue;
      try {
        const figure = await load(one, count);
        if (!best.has(one) || figure.rate > best.get(one).rate) best.set(one, figure);
      } catch (error) {
        one.isOut = true;
        console.log(`${one.contestant}: gave up with ${count} callers, ${error.message}`);
      }
    }
  }
  const direct = best.get(running[0])?.rate;
  for (const [one, { rate, cpu, p50, p99 }] of best) {
    console.log(`| ${one.contestant} | ${count} | ${rate.toFixed(0)} | ${(rate / direct).toFixed(2)} × | ${ms(cpu)} | ${ms(p50)} | ${ms(p99)} |`);
  }
}
process.exit(0);

/** Waits until it answers, then finds the tool's name. */
async function ready(started) {
  const until = performance.now() + 60_000;
  for (;;) {
    try {
      const caller = await open(started);
      await caller.call();
      return caller;
    } catch (error) {
      if (performance.now() > until || started.child.exitCode !== null) throw new Error(`it does not answer (${error.message})`);
      await new Promise((again) => setTimeout(again, 250));
    }
  }
}

/** One caller on a connection of its own, in a session of its own where there are sessions. */
async function open(started) {
  const { origin, pathname } = new URL(started.rest?.url ?? started.url);
  const client = new Client(origin, { pipelining: 1 });
  const headers = { "content-type": "application/json", accept: "application/json, text/event-stream" };
  const post = async (message, more = {}) => {
    const { statusCode, headers: answered, body } = await client.request({ path: pathname, method: "POST", headers: { ...headers, ...more }, body: JSON.stringify(message) });
    const text = await body.text();
    if (statusCode >= 300) throw new Error(`HTTP ${statusCode}: ${text.slice(0, 100)}`);
    return { answered, text };
  };
  if (started.rest) {
    const { server_name, tool } = started.rest.body;
    return { close: () => client.close(), call: async () => checked((await post({ server_name, tool, arguments: { text: "hello" } })).text) };
  }
  const initialize = { jsonrpc: "2.0", id: 0, method: "initialize", params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "bench", version: "1" } } };
  const { answered } = await post(initialize);
  const session = { "mcp-protocol-version": "2025-06-18", ...(answered["mcp-session-id"] && { "mcp-session-id": answered["mcp-session-id"] }) };
  await post({ jsonrpc: "2.0", method: "notifications/initialized" }, session);
  started.tool ??= await findTool(post, session);
  let id = 0;
  const call = async () => checked((await post({ jsonrpc: "2.0", id: (id += 1), method: "tools/call", params: { name: started.tool, arguments: { text: "hello" } } }, session)).text);
  return { call, close: () => client.close() };
}

async function findTool(post, session) {
  const { text } = await post({ jsonrpc: "2.0", id: -1, method: "tools/list", params: {} }, session);
  const line = text.startsWith("{") ? text : text.split("\n").find((one) => one.startsWith("data: {"))?.slice(6);
  return JSON.parse(line).result.tools.map(({ name }) => name).find((name) => name.endsWith("echo"));
}

function checked(text) {
  if (!text.includes("hello") || text.includes('"isError":true')) throw new Error(`a wrong answer: ${text.slice(0, 100)}`);
}

async function load(started, count) {
  const callers = [];
  // A few at a time: opening is not what is measured.
  for (let at = 0; at < count; at += 16) callers.push(...(await Promise.all(Array.from({ length: Math.min(16, count - at) }, () => open(started)))));
  const total = count === 1 ? Math.ceil(calls / 4) : calls;
  await run(callers, Math.ceil(total / 5));
  const before = cpuOf(started.child.pid);
  const took = [];
  const began = performance.now();
  await run(callers, total, took);
  const seconds = (performance.now() - began) / 1000;
  const cpu = (cpuOf(started.child.pid) - before) / total;
  await Promise.all(callers.map((caller) => caller.close()));
  const sorted = took.toSorted((a, b) => a - b);
  return { rate: total / seconds, cpu, p50: sorted[sorted.length >> 1], p99: sorted[Math.floor(sorted.length * 0.99)] };
}

async function run(callers, total, took = []) {
  let begun = 0;
  await Promise.all(
    callers.map(async ({ call }) => {
      while (begun++ < total) {
        const began = performance.now();
        await call();
        took.push(performance.now() - began);
      }
    }),
  );
}

/** CPU of the gateway and of what it started, without the echo servers. */
function cpuOf(pid) {
  let sum = 0;
  for (const one of [pid, ...descendants(pid)]) {
    try {
      if (!readFileSync(`/proc/${one}/cmdline`, "latin1").includes("echo-stdio.mjs") || one === pid) sum += cpuMs(one);
    } catch {
      // It has ended in between.
    }
  }
  return sum;
}

function descendants(pid) {
  const found = [];
  for (const entry of readdirSync("/proc")) {
    if (!/^\d+$/.test(entry)) continue;
    try {
      const stat = readFileSync(`/proc/${entry}/stat`, "latin1");
      if (Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]) === pid) found.push(Number(entry), ...descendants(Number(entry)));
    } catch {
      // It has ended in between.
    }
  }
  return found;
}

function kill(child) {
  for (const pid of [...descendants(child.pid), child.pid]) {
    try {
      process.kill(pid, "SIGKILL");
    } catch {
      // It has ended already.
    }
  }
}
