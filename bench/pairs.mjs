// `node bench/pairs.mjs --before DIR [--rounds 10] [--json FILE] [row …]`: compares this build with that of another
// checkout, in alternating turns on one machine. Three hubs run: the earlier one, a second copy of it, and the new one.
// The difference between the first two is the machine's noise; that of the third is the change.
//
// Only the CPU time of the hub's process is measured (Linux), so other load of the machine affects it only through the
// CPU caches. Each figure is the median of the ratios of consecutive turns, with the lower and the upper quartile.
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { cpus, tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { cli, legacyClient, modernClient, startHub } from "./lib/hub.mjs";
import { commandCpuMs, cpuMs, median, memoryMb, ms } from "./lib/measure.mjs";
import { startServer } from "./lib/servers.mjs";
import { openSession } from "./lib/wire.mjs";
import { emptyYard, kindsYard, modulesYard } from "./lib/yards.mjs";

const TOOLS = {
  module: { name: "many.tool_0", count: 400 },
  builtin: { name: "meta.ping", args: {}, count: 400 },
  stdio: { name: "child__echo", count: 250 },
  http: { name: "web__echo", count: 250 },
  script: { name: "tool_00000", count: 10 },
  folder: { name: "folder_echo", count: 6 },
};
const CROWD = 32;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { before: { type: "string" }, rounds: { type: "string", default: "10" }, json: { type: "string" } },
});
if (values.before === undefined) throw new Error("`--before` names a built checkout to compare this one with.");
const rounds = Number(values.rounds);
const programs = { before: join(resolve(values.before), "dist", "cli", "main.js"), after: cli };
const scratch = mkdtempSync(join(tmpdir(), "toolyard-pairs-"));
process.once("exit", () => rmSync(scratch, { recursive: true, force: true, maxRetries: 5 }));
for (const [signal, code] of Object.entries({ SIGINT: 130, SIGTERM: 143 }))
  process.once(signal, () => process.exit(code));

const rows = [];
const consents = new Map();
console.log(`Node ${process.version}, ${cpus().length} × ${cpus()[0].model}, ${rounds} turns each\n`);
const remote = await startServer("echo-http.mjs");
try {
  await compareStarts("start to first list, 1000 tools", modulesYard(folder(), 1000));
  await compareStarts("start to first list, no upstreams", emptyYard(folder()));
  await compareCommands();
  await compareCalls();
} finally {
  remote.stop();
}
if (values.json !== undefined) writeFileSync(values.json, JSON.stringify(rows, undefined, 2));

/** Compares the cost of a hub until it serves, and its idle memory. */
async function compareStarts(what, config) {
  if (!isWanted(what)) return;
  const taken = { before: [], again: [], after: [] };
  const memory = { before: [], again: [], after: [] };
  for (let round = 0; round <= rounds; round += 1) {
    for (const who of inTurn(round)) {
      const hub = await startHub(config, { home: folder(), program: programOf(who) });
      const client = modernClient(hub.url);
      await client.listText();
      client.close();
      if (round > 0) {
        taken[who].push(cpuMs(hub.pid));
        memory[who].push(memoryMb(hub.pid).own);
      }
      await hub.stop();
    }
  }
  report(what, taken, ms);
  report("memory then", memory, (value) => `${value.toFixed(1)} MB`);
}

/** Compares whole commands, from start to exit, with a source of every kind. */
async function compareCommands() {
  const config = ["--config", kindsYard(folder(), remote.url)];
  for (const [what, args] of Object.entries({
    "command --version": ["--version"],
    "command --help": ["--help"],
    "command list": ["list", ...config],
    "command search": ["search", "echo", ...config],
    "command check": ["check", ...config],
    "command call, module": ["call", "many.tool_0", '{"text":"hello"}', ...config],
    "command call, stdio": ["call", "child__echo", '{"text":"hello"}', ...config],
    "command call, script": ["call", "tool_00000", '{"text":"hello"}', ...config],
  }))
    await compareCommand(what, args);
}

async function compareCommand(what, args) {
  if (!isWanted(what)) return;
  const homes = { before: folder(), again: folder(), after: folder() };
  const taken = { before: [], again: [], after: [] };
  for (let round = 0; round <= rounds; round += 1) {
    for (const who of inTurn(round)) {
      const env = { ...process.env, TOOLYARD_HOME: homes[who] };
      const words = [programOf(who), ...args, ...consentOf(programOf(who), args)];
      const used = await commandCpuMs(process.execPath, words, { env, runs: round === 0 ? 1 : 3 });
      if (round > 0) taken[who].push(used);
    }
  }
  report(what, taken, ms);
}

/**
 * Returns the option of consent for a build. Newer builds ask before they start programs from a folder's files and
 * accept `--yes`; older ones do not have that option.
 */
function consentOf(program, [command]) {
  if (command.startsWith("-")) return [];
  const key = `${program} ${command}`;
  if (!consents.has(key)) {
    const help = spawnSync(process.execPath, [program, command, "--help"], { encoding: "utf8" }).stdout;
    consents.set(key, help.includes("--yes") ? ["--yes"] : []);
  }
  return consents.get(key);
}

async function compareCalls() {
  const config = kindsYard(folder(), remote.url);
  const hubs = {};
  for (const who of ["before", "again", "after"])
    hubs[who] = await startHub(config, { home: folder(), program: programOf(who) });
  try {
    for (const [kind, tool] of Object.entries(TOOLS)) {
      await compareCall(hubs, `${kind}, modern`, { ...tool, open: (url) => one(modernClient(url)) });
      await compareCall(hubs, `${kind}, legacy`, { ...tool, open: async (url) => one(await legacyClient(url)) });
      if (kind === "module") await compareCall(hubs, "module, body apart", { ...tool, open: openSplit });
      if (tool.count >= 100) await compareCall(hubs, `${kind}, ${CROWD} callers`, { ...tool, open: crowd });
    }
    await compareCall(hubs, "list of every kind", { count: 100, warmUp: 2000, open: lists });
  } finally {
    for (const hub of Object.values(hubs)) await hub.stop();
  }
}

/** Compares the cost of a call. `warmUp`: number of calls before the first turn, until V8 has optimised their code. */
async function compareCall(hubs, what, { name, args = { text: "hello" }, count, warmUp = count * 3, open }) {
  if (!isWanted(what)) return;
  const clients = {};
  for (const who of Object.keys(hubs)) clients[who] = await open(hubs[who].url);
  const taken = { before: [], again: [], after: [] };
  for (let round = 0; round <= rounds; round += 1) {
    for (const who of inTurn(round)) {
      const began = cpuMs(hubs[who].pid);
      await clients[who].call(name, args, round === 0 ? warmUp : count);
      if (round > 0) taken[who].push((cpuMs(hubs[who].pid) - began) / count);
    }
  }
  for (const client of Object.values(clients)) client.close();
  report(what, taken, ms);
}

/** Returns a load of one client that sends its calls in sequence. */
function one(client) {
  return {
    close: client.close,
    async call(name, args, count) {
      for (let turn = 0; turn < count; turn += 1) await client.call(name, args);
    },
  };
}

async function openSplit(url) {
  return one(await legacyClient(url, { isSplit: true }));
}

async function lists(url) {
  const client = await legacyClient(url);
  return {
    close: client.close,
    async call(_, __, count) {
      for (let turn = 0; turn < count; turn += 1) await client.listText();
    },
  };
}

/** Returns a load of many concurrent sessions, each with one call in flight. */
async function crowd(url) {
  const sessions = await Promise.all(Array.from({ length: CROWD }, () => openSession(url)));
  return {
    close: () => sessions.forEach((session) => session.close()),
    async call(name, args, count) {
      let left = count * 2;
      const work = async (session) => {
        while ((left -= 1) >= 0) await session.call(name, args);
      };
      await Promise.all(sessions.map(work));
    },
  };
}

/** Returns the order of a round. It alternates, so that drift affects all hubs equally. */
function inTurn(round) {
  const all = ["before", "again", "after"];
  return round % 2 === 0 ? all : all.toReversed();
}

function programOf(who) {
  return who === "after" ? programs.after : programs.before;
}

function isWanted(what) {
  return positionals.length === 0 || positionals.some((word) => what.startsWith(word));
}

function report(what, { before, again, after }, show) {
  const same = ratios(again, before);
  const change = ratios(after, before);
  rows.push({ what, before: median(before), after: median(after), same, change });
  console.log(
    `${what.padEnd(34)} ${show(median(before))} → ${show(median(after))}`.padEnd(64) +
      `after/before ${shown(change)}   before/before ${shown(same)}`,
  );
}

function ratios(ones, others) {
  const all = ones.map((value, index) => value / others[index]).toSorted((a, b) => a - b);
  const at = (part) => all[Math.floor((all.length - 1) * part)];
  return { median: at(0.5), lower: at(0.25), upper: at(0.75) };
}

function shown({ median: middle, lower, upper }) {
  return `${middle.toFixed(3)} (${lower.toFixed(2)}–${upper.toFixed(2)})`;
}

function folder() {
  const path = join(scratch, String(Math.random()).slice(2));
  mkdirSync(path);
  return path;
}
