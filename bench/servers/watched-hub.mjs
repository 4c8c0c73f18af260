// A hub that adds an untrusted server, lists, searches, describes and calls it: `watched-hub.mjs <url> <url of a
// harmless server> <data folder>` writes the CPU time of the longest turn of its event loop, in milliseconds.
import { readFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { createHub } from "../../packages/toolyard/dist/index.js";

const [, , url, friend, home] = process.argv;
const STATISTICS = `/proc/self/task/${process.pid}/schedstat`;
const mainThreadMs = () => Number(readFileSync(STATISTICS, "latin1").split(" ")[0]) / 1e6;

let longestMs = 0;
let lastMs = mainThreadMs();
function turn() {
  const nowMs = mainThreadMs();
  longestMs = Math.max(longestMs, nowMs - lastMs);
  lastMs = nowMs;
  setImmediate(turn).unref();
}

/** Milliseconds after which background work of the hub has ended. */
const SETTLED_MS = 300;

const hub = await createHub({
  settings: { server: { port: 0 }, logging: { level: "error" } },
  variables: { PATH: process.env.PATH, TOOLYARD_HOME: home },
});
const { endpoint } = await hub.serve();
const origin = new URL(endpoint).origin;

async function use(alias) {
  await hub.list();
  await hub.search("what it is for");
  await (await fetch(`${origin}/openapi.json`)).text();
  const tool = (await hub.list()).map(({ name }) => String(name)).find((name) => name.startsWith(`${alias}__`));
  for (let round = 0; round < 2; round += 1) await hub.call(tool, { p0: 1, a: -1, x: 0 }).catch(() => {});
}

// The cost of loading code on first use does not belong to any list.
await hub.addServer("friend", { url: friend });
await use("friend");
await delay(SETTLED_MS);
lastMs = mainThreadMs();
turn();
await hub.addServer("stranger", { url });
await use("stranger");
await delay(SETTLED_MS);
console.log(longestMs);
await hub.close();
process.exit(0);
