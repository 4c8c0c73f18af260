// Starts a hub as a user does, and clients that send and read raw bytes, so that they need almost no CPU time.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { Agent, request } from "node:http";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

export const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
export const cli = process.env.BENCH_CLI ?? join(root, "packages", "toolyard", "dist", "cli", "main.js");

const running = new Set();
process.once("exit", () => running.forEach((child) => child.kill("SIGKILL")));

/**
 * Serves `config` on a free port. `home`: data folder, instead of the user's. `node`: program that runs the hub.
 * `program`: main file of the hub.
 */
export async function startHub(config, { home, node = process.execPath, program = cli, args = [] }) {
  const startedAt = performance.now();
  const child = spawn(node, [program, "serve", "--config", config, "--port", "0", "--json", "--no-watch", ...args], {
    stdio: ["ignore", "pipe", "inherit"],
    env: { ...process.env, ...IN_FORCE, TOOLYARD_HOME: home, TOOLYARD_AUDIT_FILE: join(home, "audit.jsonl") },
  });
  running.add(child);
  child.once("exit", () => running.delete(child));
  const stop = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, "exit");
    child.kill("SIGTERM");
    await exited;
  };
  try {
    const { url } = JSON.parse(await firstLine(child));
    return { url, pid: child.pid, startedAt, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/**
 * Settings of a measured hub: every check and the audit are on; only the limit of calls per minute is off, because a
 * benchmark exceeds it.
 */
const IN_FORCE = { TOOLYARD_LOGGING_LEVEL: "error", TOOLYARD_LIMITS_RATE_PER_MINUTE: "0" };

async function firstLine(child) {
  const lines = createInterface({ input: child.stdout });
  const gone = once(child, "exit").then(([code]) =>
    Promise.reject(new Error(`The hub ended with ${code} before it served.`)),
  );
  const [line] = await Promise.race([once(lines, "line"), gone]);
  return line;
}

/** Runs `work` with a hub for `config` and a client, and ends both. */
export async function withHub(config, options, work) {
  const hub = await startHub(config, options);
  const client = modernClient(hub.url);
  try {
    return await work(hub, client);
  } finally {
    client.close();
    await hub.stop();
  }
}

/**
 * Returns a client of the modern era, which is stateless. It has one persistent connection for each call in flight.
 */
export function modernClient(url) {
  const post = poster(url);
  const send = (method, params, name) =>
    post.send(
      method,
      { ...params, _meta: ENVELOPE },
      { "mcp-protocol-version": MODERN, "mcp-method": method, ...(name ? { "mcp-name": name } : {}) },
    );
  return faceOf(send, post.close);
}

/**
 * Returns a client of the legacy era, with its own session. `isSplit`: it writes head and body separately, like the
 * official Python SDK, Java's HttpClient and python-requests.
 */
export async function legacyClient(url, { isSplit = false } = {}) {
  const post = poster(url, isSplit);
  const started = await post.send("initialize", { protocolVersion: LEGACY, capabilities: {}, clientInfo: CLIENT });
  resultOf(started);
  const headers = { "mcp-protocol-version": LEGACY, "mcp-session-id": post.last()["mcp-session-id"] };
  await post.notify("notifications/initialized", headers);
  return faceOf((method, params) => post.send(method, params, headers), post.close);
}

function faceOf(send, close) {
  return {
    list: async () => resultOf(await send("tools/list", {})),
    /** Returns the unparsed answer: parsing is the client's cost. */
    listText: () => send("tools/list", {}),
    call: async (name, args) => resultOf(await send("tools/call", { name, arguments: args }, name)),
    close,
  };
}

const MODERN = "2026-07-28";
const LEGACY = "2025-11-25";
const CLIENT = { name: "bench", version: "1" };
const ENVELOPE = {
  "io.modelcontextprotocol/protocolVersion": MODERN,
  "io.modelcontextprotocol/clientCapabilities": {},
  "io.modelcontextprotocol/clientInfo": CLIENT,
};

/** Posts JSON-RPC and reads the reply, plain or as a stream. */
function poster(url, isSplit = false) {
  const agent = new Agent({ keepAlive: true });
  const { hostname, port, pathname, search } = new URL(url);
  let id = 0;
  let lastHeaders;
  const post = (message, headers) =>
    new Promise((done, failed) => {
      const body = JSON.stringify({ jsonrpc: "2.0", ...message });
      const always = {
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        "content-length": Buffer.byteLength(body),
      };
      const outgoing = request(
        { hostname, port, path: pathname + search, method: "POST", agent, headers: { ...always, ...headers } },
        (response) => {
          const chunks = [];
          lastHeaders = response.headers;
          response.on("data", (chunk) => chunks.push(chunk));
          response.on("end", () => done(Buffer.concat(chunks).toString("utf8")));
          response.on("error", failed);
        },
      );
      outgoing.on("error", failed);
      if (!isSplit) return outgoing.end(body);
      outgoing.flushHeaders();
      // If head and body were written in the same turn, Node would send both in one chunk.
      setImmediate(() => outgoing.end(body));
    });
  return {
    send: (method, params, headers) => post({ id: ++id, method, params }, headers),
    notify: (method, headers) => post({ method }, headers),
    last: () => lastHeaders,
    close: () => agent.destroy(),
  };
}

function resultOf(text) {
  const json = text.startsWith("{")
    ? text
    : text
        .split("\n")
        .findLast((line) => line.startsWith("data: {"))
        ?.slice(6);
  if (json === undefined) throw new Error(`No reply in: ${text.slice(0, 200)}`);
  const message = JSON.parse(json);
  if (message.error) throw new Error(JSON.stringify(message.error));
  return message.result;
}
