// Runs one case: a client and a server, once directly and once with the hub between them.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const toolyard = join(root, "packages", "toolyard", "dist", "cli", "main.js");
const START_MS = 30_000;
const RUN_MS = 240_000;
const END_MS = 5000;
const POLL_MS = 50;
const KEPT_ERRORS = 6000;
/** Delay of a server before its first message. */
const COLD_MS = { whole: 0, "cold-3": 3000, "cold-9": 9000 };
export const SCENARIOS = Object.keys(COLD_MS);
/**
 * Transports between the client and the hub, and between the hub and the server. A direct connection has the transport
 * of the server's side.
 */
export const TRANSPORTS = {
  stdio: { client: "stdio", server: "stdio" },
  http: { client: "http", server: "http" },
  mixed: { client: "http", server: "stdio" },
};

/** Running process groups. Each ends with its case, and all end with this process. */
const running = new Set();
process.on("exit", () => running.forEach((child) => signal(child, "SIGKILL")));

/** Returns the observations of both runs. */
export async function runCase(entry) {
  return { direct: await runOnce(entry, reachDirectly), hub: await runOnce(entry, reachThroughHub) };
}

async function runOnce(entry, reach) {
  const work = mkdtempSync(join(tmpdir(), "toolyard-partners-"));
  const owned = [];
  const env = { TOOLYARD_HOME: join(work, "home"), PARTNER_START_MS: String(COLD_MS[entry.scenario]) };
  const start = async (command) => {
    const { child, url } = await startAndReadUrl(command, work, env);
    owned.push(child);
    return url;
  };
  try {
    const reached = await reach(entry, { work, start, env });
    return await observe(entry, reached, { work, env });
  } catch (error) {
    return { error: `not run: ${error.message}` };
  } finally {
    await Promise.all(owned.toReversed().map(stop));
    rmSync(work, { recursive: true, force: true });
  }
}

async function reachDirectly({ server, transport }, { start }) {
  return TRANSPORTS[transport].server === "http"
    ? { url: await start([...server.server, "--http"]) }
    : { command: server.server };
}

async function reachThroughHub({ server, transport }, { work, start, env }) {
  const sides = TRANSPORTS[transport];
  const config = join(work, "hub.toml");
  mkdirSync(join(work, "home"));
  const source =
    sides.server === "http"
      ? `[[mcp.remote_servers]]\nalias = "partner"\nnamespace = ""\n` +
        `url = ${JSON.stringify(await start([...server.server, "--http"]))}\n`
      : `[mcp.stdio_servers.partner]\ncommand = ${JSON.stringify(server.server)}\nnamespace = ""\n` +
        `env = { PARTNER_START_MS = "${env.PARTNER_START_MS}" }\n`;
  // Configures only the source, because the hub's own tools have no counterpart in a direct connection.
  writeFileSync(config, `[builtin]\nexecute_code = false\n\n${source}`);
  const hub = [process.execPath, toolyard, "serve", "--config", config];
  return sides.client === "http"
    ? { url: await start([...hub, "--port", "0", "--json"]) }
    : { command: [...hub, "--stdio"] };
}

/** Runs a client until it exits. It prints its observations as one line of JSON. */
function observe({ client, era, scenario }, reached, { work, env }) {
  const target = { era, scenario: scenario === "whole" ? "whole" : "cold", ...reached };
  const [command, ...args] = client.client;
  const child = launch([command, ...args, JSON.stringify(target)], work, env);
  let errors = "";
  child.stderr.on("data", (part) => (errors = (errors + part).slice(-KEPT_ERRORS)));
  return new Promise((resolve) => {
    let observed;
    const end = () => {
      clearTimeout(timer);
      void stop(child).then(() =>
        resolve(observed ?? { error: `no observations: ${errors.trim().split("\n").slice(-8).join(" / ")}` }),
      );
    };
    const timer = setTimeout(end, RUN_MS);
    createInterface({ input: child.stdout }).on("line", (line) => {
      observed ??= readObservations(line);
      if (observed) end();
    });
    child.on("close", end);
  });
}

function readObservations(line) {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

/** Starts a server and waits for the first URL with `/mcp` on its standard output. */
function startAndReadUrl([command, ...args], work, env) {
  const child = launch([command, ...args], work, env);
  let errors = "";
  child.stderr.on("data", (part) => (errors = (errors + part).slice(-KEPT_ERRORS)));
  return new Promise((resolve, reject) => {
    const fail = (why) => {
      clearTimeout(timer);
      void stop(child).then(() =>
        reject(new Error(`${args.at(-1)}: ${why}. ${errors.trim().split("\n").slice(-4).join(" / ")}`)),
      );
    };
    const timer = setTimeout(() => fail(`no URL within ${START_MS} ms`), START_MS);
    createInterface({ input: child.stdout }).on("line", async (line) => {
      const url = /https?:\/\/[^\s"']+\/mcp/u.exec(line)?.[0];
      if (!url || !(await isListening(url))) return;
      clearTimeout(timer);
      resolve({ url, child });
    });
    child.on("error", (error) => fail(error.message));
    child.on("exit", (code) => fail(`ended with ${code}`));
  });
}

/**
 * Waits until a server accepts connections, and returns whether it does, because some servers print their address
 * before they listen.
 */
async function isListening(url) {
  const { hostname, port } = new URL(url);
  const until = performance.now() + START_MS;
  while (performance.now() < until) {
    const socket = connect(Number(port), hostname);
    const isOpen = await once(socket, "connect").then(
      () => true,
      () => false,
    );
    socket.destroy();
    if (isOpen) return true;
    await sleep(POLL_MS);
  }
  return false;
}

/** Starts a separate process group, so that its children can be ended with it. */
function launch([command, ...args], work, env) {
  const child = spawn(command, args, {
    cwd: work,
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, ...env },
    detached: true,
  });
  running.add(child);
  return child;
}

function stop(child) {
  if (!running.has(child)) return Promise.resolve();
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      signal(child, "SIGKILL");
      running.delete(child);
      resolve();
    };
    const timer = setTimeout(done, END_MS);
    if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return done();
    child.once("exit", done);
    signal(child, "SIGTERM");
  });
}

function signal(child, name) {
  try {
    if (child.pid !== undefined) process.kill(-child.pid, name);
  } catch {
    // The whole group has ended.
  }
}
