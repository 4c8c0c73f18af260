// A hub with a stdio server behind it. Prints its port; a message requests its memory after a collection, with the
// answer `{heapBytes, children}`.
import { execFileSync } from "node:child_process";
import { readFileSync, readdirSync } from "node:fs";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { createHub } from "../../packages/toolyard/dist/index.js";
import { join } from "node:path";
import { root } from "../lib/hub.mjs";

setFlagsFromString("--expose-gc");
const gc = runInNewContext("gc");
const child = [process.execPath, join(root, "bench/servers/echo-stdio.mjs")];
const settings = {
  server: { port: 0 },
  limits: { rate_per_minute: 0 },
  builtin: { execute_code: false },
  mcp: { stdio_servers: { child: { command: child } } },
};
const hub = await createHub({ settings, variables: { PATH: process.env.PATH, TOOLYARD_HOME: process.argv[2] } });
const { endpoint } = await hub.serve();
console.log(new URL(endpoint).port);

process.on("message", async () => {
  // The collection is repeated in later turns, because objects of one turn of the event loop are released in the next.
  for (let turn = 0; turn < 3; turn += 1) {
    await new Promise((resolve) => void setTimeout(resolve, 50));
    gc();
  }
  const { heapUsed, external, arrayBuffers } = process.memoryUsage();
  process.send({ heapBytes: heapUsed + external + arrayBuffers, children: childCount() });
});
process.once("disconnect", () => process.exit());

function childCount() {
  if (process.platform !== "linux")
    return execFileSync("ps", ["-o", "ppid="], { encoding: "utf8" })
      .split("\n")
      .filter((ppid) => Number(ppid) === process.pid).length;
  return readdirSync("/proc").filter((name) => {
    try {
      return Number(/PPid:\s+(\d+)/.exec(readFileSync(`/proc/${name}/status`, "utf8"))[1]) === process.pid;
    } catch {
      return false;
    }
  }).length;
}
