// Starts a contestant and waits until it answers.
import { once } from "node:events";
import { closeSync, openSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { freePort } from "../../scripts/free-port.mjs";
import { ensureInstalled } from "../../scripts/tools.mjs";
import { root } from "../lib/hub.mjs";
import { cpuOfTree, startTree, stopTree } from "../lib/processes.mjs";
import { openSession } from "../lib/wire.mjs";
import { describe, upstream } from "./contestants.mjs";

const PATIENCE = 60_000;

/** Returns the name of a contestant with the version of its package. */
export function nameOf(contestant) {
  return `${contestant.title ?? contestant.package} ${describe(contestant).version}`;
}

/** Returns the name of a contestant, and its special conditions in this benchmark. */
export function introduce(contestant) {
  const version = otherNode(contestant);
  const notes = [contestant.note, version && `on Node ${version}`].filter(Boolean).join(", ");
  return nameOf(contestant) + (notes && ` (${notes})`);
}

function otherNode(contestant) {
  try {
    return nodeFor(describe(contestant).engines?.node).version;
  } catch {
    return undefined; // The start of the contestant reports the failure.
  }
}

/** Starts a contestant in front of the server in one way, and waits until it answers a call. */
export async function startPeer(contestant, { way, remote, place }) {
  const node = nodeFor(describe(contestant).engines?.node);
  const port = String(await freePort());
  const {
    command,
    cwd = place,
    path = "/mcp",
    printsPort,
    open = openSession,
    request,
    sessions,
  } = contestant.plan({ way, remote, port, place });
  const errors = join(place, "errors.txt");
  const file = openSync(errors, "w");
  // No files of the user are read or written: each has a separate home.
  const home = {
    HOME: place,
    XDG_CONFIG_HOME: place,
    XDG_STATE_HOME: place,
    XDG_DATA_HOME: place,
    XDG_CACHE_HOME: place,
  };
  const tree = startTree([node.path, ...command], {
    stdio: ["ignore", printsPort ? "pipe" : "ignore", file],
    cwd,
    env: home,
  });
  closeSync(file);
  const hasEnded = () => tree.child.exitCode !== null || tree.child.signalCode !== null;
  const peer = {
    open: undefined,
    request,
    sessions,
    look: () => cpuOfTree(tree, upstream),
    stop: () => stopTree(tree),
    hasEnded,
  };
  try {
    const url = `http://127.0.0.1:${printsPort ? await firstLine(tree.child) : port}${path}`;
    peer.open = () => open(url);
    await answers(peer);
    return peer;
  } catch (error) {
    peer.stop();
    throw new Error(`does not start: ${error.message}; ${lastWords(errors)}`, { cause: error });
  }
}

async function answers(peer) {
  const until = performance.now() + PATIENCE;
  for (;;) {
    try {
      return await within(10_000, firstCall(peer));
    } catch (error) {
      if (peer.hasEnded() || performance.now() > until) throw error;
      await new Promise((again) => void setTimeout(again, 250));
    }
  }
}

async function firstCall({ open, request }) {
  const caller = await open();
  const args = { text: "hello" };
  const call = request?.("echo", args) ?? { name: "echo", args };
  try {
    await caller.call(call.name, call.args, { text: "hello" });
  } finally {
    caller.close();
  }
}

/** Returns the result of some work, unless it takes too long. */
export function within(milliseconds, work) {
  let timer;
  const late = new Promise((_, failed) => {
    timer = setTimeout(() => failed(new Error(`no answer within ${Math.round(milliseconds / 1000)} s`)), milliseconds);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}

async function firstLine(child) {
  const gone = once(child, "exit").then(([code]) => Promise.reject(new Error(`it ended with ${code}`)));
  const [line] = await within(PATIENCE, Promise.race([once(createInterface({ input: child.stdout }), "line"), gone]));
  return line;
}

/** Returns a program's last line that mentions an error, or else its last line. */
function lastWords(path) {
  const lines = readFileSync(path, "utf8").trim().split("\n");
  return lines.findLast((line) => /error/i.test(line)) ?? lines.at(-1);
}

/** Returns the Node for a package: this one if it is new enough, else the oldest suitable one of `test/nodes`. */
function nodeFor(range) {
  const least = />=\s*([\d.]+)/.exec(range ?? "")?.[1] ?? "0";
  if (isAtLeast(process.versions.node, least)) return { path: process.execPath };
  const modules = ensureInstalled("test/nodes");
  for (const name of Object.keys(
    JSON.parse(readFileSync(join(root, "test/nodes/package.json"), "utf8")).dependencies,
  )) {
    const { version } = JSON.parse(readFileSync(join(modules, name, "package.json"), "utf8"));
    if (isAtLeast(version, least)) return { path: join(modules, name, "bin/node"), version };
  }
  throw new Error(`It asks for Node ${range}.`);
}

function isAtLeast(version, least) {
  const wanted = least.split(".").map(Number);
  const has = version.split(".").map(Number);
  const at = wanted.findIndex((number, index) => number !== has[index]);
  return at === -1 || has[at] > wanted[at];
}
