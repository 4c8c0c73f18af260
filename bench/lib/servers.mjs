// Programs that the hub is measured with and compared to.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { root } from "./hub.mjs";
import { everything } from "./yards.mjs";

/** Starts one program of `bench/servers/` that prints its port; it ends with this process, too. */
export async function startServer(name, args = []) {
  const child = spawn(process.execPath, [join(root, "bench/servers", name), ...args], {
    stdio: ["ignore", "pipe", "inherit", "ipc"],
  });
  const [port] = await once(createInterface({ input: child.stdout }), "line");
  return { url: `http://127.0.0.1:${port}/mcp`, pid: child.pid, stop: () => child.kill("SIGKILL") };
}

/**
 * Starts `count` official servers concurrently and lists the tools of each, without a hub. Returns the milliseconds
 * until all have answered.
 */
export async function startChildrenDirectly(count) {
  const children = [];
  const startedAt = performance.now();
  try {
    await Promise.all(Array.from({ length: count }, () => askForTools(children)));
    return performance.now() - startedAt;
  } finally {
    for (const child of children) child.kill("SIGKILL");
  }
}

function askForTools(children) {
  const child = spawn(process.execPath, [everything, "stdio"], { stdio: ["pipe", "pipe", "ignore"] });
  children.push(child);
  const send = (message) => child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  send({
    id: 1,
    method: "initialize",
    params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "bench", version: "1" } },
  });
  return new Promise((done, failed) => {
    child.once("exit", (code) => failed(new Error(`A server ended with ${code}.`)));
    createInterface({ input: child.stdout }).on("line", (line) => {
      const { id } = JSON.parse(line);
      if (id === 2) return done();
      if (id !== 1) return;
      send({ method: "notifications/initialized" });
      send({ id: 2, method: "tools/list", params: {} });
    });
  });
}
