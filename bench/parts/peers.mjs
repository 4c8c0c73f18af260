// Toolyard and its peers in front of one server, as their child or over HTTP, called by one client and compared with a
// direct call.
import { ensureInstalled } from "../../scripts/tools.mjs";
import { root, startHub } from "../lib/hub.mjs";
import { least, median, ms, timed } from "../lib/measure.mjs";
import { cpuBetween, cpuOfTree } from "../lib/processes.mjs";
import { startServer } from "../lib/servers.mjs";
import { openSession } from "../lib/wire.mjs";
import { hopYard } from "../lib/yards.mjs";
import { CONTESTANTS, upstream } from "../peers/contestants.mjs";
import { introduce, nameOf, startPeer, within } from "../peers/start.mjs";

const echo = { what: "echo", tool: "echo", args: { text: "hello" }, due: { text: "hello" } };
// The first load warms all peers up. The load with most callers comes last, so that its leftovers affect no other load.
const LOADS = [
  { ...echo, callers: 32 },
  { ...echo, callers: 1 },
  { what: "100 KB", tool: "large", args: { bytes: 102_400 }, due: { bytes: 102_400 }, callers: 32 },
  { what: "5 × progress", tool: "progress", args: { times: 5 }, due: { marks: 5 }, callers: 32 },
  { ...echo, callers: 256 },
];
const PREFIXES = { stdio: "child__", http: "web__" };
const PATIENCE = 30_000;

export async function measurePeers(bench) {
  const peers = install(bench);
  const [direct, remote] = await Promise.all([startServer("sdk.mjs", ["http"]), startServer("sdk.mjs", ["http"])]);
  try {
    for (const way of ["stdio", "http"]) await compareWay(bench, { way, direct, remote: remote.url, peers });
  } finally {
    direct.stop();
    remote.stop();
  }
}

/** Installs the peers from a separate lock file, and returns them. If that fails, only Toolyard is measured. */
function install({ report, note }) {
  try {
    ensureInstalled("bench/peers");
    note(`Peers: ${CONTESTANTS.map(introduce).join(", ")}.`);
    return CONTESTANTS;
  } catch (error) {
    note("Peers: none, they could not be installed.");
    report("peers", `left out: ${inWords(error)}`);
    return [];
  }
}

async function compareWay(bench, { way, direct, remote, peers }) {
  const field = [];
  try {
    field.push({ name: "direct", open: () => openSession(direct.url), look: () => cpuOfTree(direct), stop() {} });
    const hub = await startHub(hopYard(bench.folder(), remote), { home: bench.folder() });
    const request = (tool, args) => ({ name: PREFIXES[way] + tool, args });
    field.push({
      name: "toolyard",
      open: () => openSession(hub.url),
      look: () => cpuOfTree(hub, upstream),
      request,
      stop: hub.stop,
    });
    for (const contestant of peers) await enter(bench, { way, remote, contestant, field });
    for (const load of LOADS) await compare(bench, { way, field, load });
  } finally {
    for (const one of field) {
      leave(one);
      await one.stop();
    }
  }
}

async function enter({ report, folder }, { way, remote, contestant, field }) {
  const name = nameOf(contestant);
  try {
    const lacks = contestant.lacks?.[way];
    if (lacks !== undefined) throw new Error(lacks);
    field.push({ name, ...(await startPeer(contestant, { way, remote, place: folder() })) });
  } catch (error) {
    report(`peers, ${way}: ${name}`, `left out: ${inWords(error)}`);
  }
}

/**
 * Compares the contestants with a direct call. They alternate, so that other load of the machine affects them equally.
 * The first one is the baseline.
 */
async function compare({ quick, report }, { way, field, load }) {
  const results = field.map((one) => ({ one, wall: [], cpu: [], words: undefined }));
  for (let round = -1; round <= (quick ? 2 : 5); round += 1) {
    for (const result of results) {
      if (result.words !== undefined) continue;
      try {
        await (round === -1
          ? prepare(result.one, load)
          : runRound(result, load, { forMs: quick ? 50 : 250, isWarm: round > 0 }));
      } catch (error) {
        if (result === results[0]) throw error;
        result.words = whyNot(result.one, error, load);
      }
    }
  }
  for (const result of results)
    report(
      `peers, ${way}, ${load.what}, ${plural(load.callers)}: ${result.one.name}`,
      result.words ?? figures(result, results[0], load),
    );
}

/**
 * Opens missing sessions, a few at a time, and makes one call. A peer with fewer sessions has several callers in each.
 */
async function prepare(one, { callers, tool, args, due }) {
  one.callers ??= [];
  while (one.callers.length < callers) {
    const missing = Math.min(8, callers - one.callers.length);
    const opened = Array.from({ length: missing }, (_, index) =>
      one.callers.length < (one.sessions ?? callers) ? one.open() : one.callers[index % one.sessions].beside(),
    );
    one.callers.push(...(await within(PATIENCE, Promise.all(opened))));
  }
  const call = requestOf(one, tool, args);
  await within(PATIENCE, one.callers[0].call(call.name, call.args, due));
}

async function runRound({ one, wall, cpu }, { callers, tool, args, due }, { forMs, isWarm }) {
  const taking = one.callers.slice(0, callers);
  const call = requestOf(one, tool, args);
  await within(PATIENCE, Promise.all(taking.map((caller) => caller.renew())));
  const before = one.look();
  const until = performance.now() + forMs;
  let count = 0;
  const work = async (caller) => {
    do {
      await caller.call(call.name, call.args, due);
      count += 1;
    } while (performance.now() < until);
  };
  const took = await timed(() => within(PATIENCE, Promise.all(taking.map(work))));
  if (!isWarm) return;
  cpu.push(cpuBetween(before, one.look()) / count);
  wall.push(took / count);
}

/**
 * Returns the text that a table row shows instead of figures after an error. Sessions with an unfinished call are not
 * used again.
 */
function whyNot(one, error, { callers }) {
  const isLost = error.message.startsWith("loses");
  if (!isLost) leave(one);
  if (one.hasEnded?.()) return `fails with ${plural(callers)}: its process has exited`;
  return isLost ? error.message : `fails with ${plural(callers)}: ${inWords(error)}`;
}

function leave(one) {
  for (const caller of one.callers ?? []) caller.close();
  one.callers = [];
}

function figures({ one, wall, cpu }, first, { callers }) {
  const speed = `${Math.round(1000 / least(wall))}/s, ${ms(least(wall) * callers)} each`;
  if (one === first.one) return `${speed}, CPU ${ms(least(cpu))} of the server`;
  const shared = callers > one.sessions ? `, in ${one.sessions} sessions` : "";
  return (
    `${(least(first.wall) / least(wall)).toFixed(2)} × direct (median ` +
    `${(median(first.wall) / median(wall)).toFixed(2)}), ${speed}, CPU ${ms(least(cpu))}${shared}`
  );
}

const requestOf = ({ request }, tool, args) => request?.(tool, args) ?? { name: tool, args };
const plural = (callers) => `${callers} caller${callers === 1 ? "" : "s"}`;

/** Returns an error as a table cell, without paths of this machine. */
function inWords({ message }) {
  return message.replaceAll(root, "").replaceAll(/\s+/g, " ").replaceAll("|", "/").trim().slice(0, 200);
}
