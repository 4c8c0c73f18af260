// Starts Redis, three hubs that share it, and HAProxy, which sends each request to another hub.
import { writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { haproxyConfig } from "../test/cluster/haproxy-config.mjs";
import { freePort } from "./free-port.mjs";

const HUBS = 3;
const toolyard = join(
  dirname(dirname(fileURLToPath(import.meta.url))),
  "packages",
  "toolyard",
  "dist",
  "cli",
  "main.js",
);
/** Milliseconds between two checks whether the balancer forwards requests. */
const RETRY_MS = 100;
const START_MS = 30_000;

/**
 * Starts all programs with `startProgram(command, read)`, whose caller ends them. `shape` is the configuration of the
 * hubs without their store. Returns the URL of the MCP endpoint at the balancer.
 */
export async function startHubsBehindBalancer({ work, shape, startProgram }) {
  const store = await freePort();
  const redis = ["redis-server", "--port", String(store), "--bind", "127.0.0.1", "--save", ""];
  await startProgram(redis, (line) => (line.includes("Ready to accept connections") ? true : undefined));
  const ports = [];
  for (let at = 0; at < HUBS; at += 1) ports.push(await startHub({ at, work, shape, store, startProgram }));
  const port = await freePort();
  const file = join(work, "haproxy.cfg");
  writeFileSync(file, haproxyConfig(port, ports));
  const url = `http://127.0.0.1:${port}`;
  // HAProxy prints nothing when it is ready.
  startProgram(["haproxy", "-db", "-f", file], () => undefined).catch(() => {});
  await untilReady(url);
  return `${url}/mcp`;
}

async function startHub({ at, work, shape, store, startProgram }) {
  const port = await freePort();
  const config = join(work, `hub-${at}.toml`);
  const url = `redis://127.0.0.1:${store}`;
  writeFileSync(config, `${shape}\n[store]\nurl = "${url}"\nadvertise = "http://127.0.0.1:${port}"\n`);
  const command = [process.execPath, toolyard, "serve", "--config", config, "--port", String(port), "--json"];
  await startProgram(command, (line) => (line.includes("/mcp") ? true : undefined));
  return port;
}

async function untilReady(url) {
  const until = performance.now() + START_MS;
  for (;;) {
    const answer = await fetch(`${url}/readyz`).catch(() => undefined);
    await answer?.arrayBuffer();
    if (answer?.status === 200) return;
    if (performance.now() > until) throw new Error(`HAProxy at ${url} was not ready within ${START_MS} ms.`);
    await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
  }
}
