// Starts a hub as a user would, and talks to it with a raw client that costs next to nothing.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { Agent, request } from "node:http";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

export const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
export const cli = join(root, "dist", "cli", "main.js");

/** Serves `config` on a free port. `env` keeps the data folder out of the user's. */
export async function startHub(config, { home }) {
  const startedAt = performance.now();
  const child = spawn(process.execPath, [cli, "serve", "--config", config, "--port", "0", "--json", "--no-watch"], {
    stdio: ["ignore", "pipe", "inherit"],
    env: { ...process.env, TOOLYARD_HOME: home, TOOLYARD_LOGGING_LEVEL: "error", TOOLYARD_LIMITS_RATE_PER_MINUTE: "0" },
  });
  let text = "";
  child.stdout.setEncoding("utf8");
  while (!text.includes("\n")) text += (await Promise.race([once(child.stdout, "data"), once(child, "exit").then(() => { throw new Error("the hub ended before it served"); })]))[0];
  const { url } = JSON.parse(text.slice(0, text.indexOf("\n")));
  return {
    url,
    pid: child.pid,
    startedAt,
    servedAt: performance.now(),
    stop: async () => {
      child.kill("SIGTERM");
      if (child.exitCode === null) await once(child, "exit");
    },
  };
}

/** A modern-era client: stateless, one keep-alive connection a lane. */
export function modernClient(url) {
  const agent = new Agent({ keepAlive: true });
  const target = new URL(url);
  let id = 0;
  const send = (method, params, name) =>
    new Promise((done, failed) => {
      const body = JSON.stringify({ jsonrpc: "2.0", id: ++id, method, params: { ...params, _meta: ENVELOPE } });
      const headers = { "content-type": "application/json", accept: "application/json, text/event-stream", "content-length": Buffer.byteLength(body), "mcp-protocol-version": "2026-07-28", "mcp-method": method, ...(name ? { "mcp-name": name } : {}) };
      const outgoing = request({ hostname: target.hostname, port: target.port, path: target.pathname + target.search, method: "POST", agent, headers }, (response) => {
        const chunks = [];
        response.on("data", (chunk) => chunks.push(chunk));
        response.on("end", () => done(parse(Buffer.concat(chunks).toString("utf8"))));
        response.on("error", failed);
      });
      outgoing.on("error", failed);
      outgoing.end(body);
    });
  return {
    list: () => send("tools/list", {}),
    call: (name, args) => send("tools/call", { name, arguments: args }, name),
    close: () => agent.destroy(),
  };
}

const ENVELOPE = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientCapabilities": {},
  "io.modelcontextprotocol/clientInfo": { name: "bench", version: "1" },
};

function parse(text) {
  const json = text.startsWith("{") ? text : text.split("\n").findLast((line) => line.startsWith("data: {"))?.slice(6);
  const message = JSON.parse(json);
  if (message.error) throw new Error(JSON.stringify(message.error));
  return message.result;
}

const TICKS_PER_SECOND = 100;

/** CPU that a process has used so far, in milliseconds (Linux). */
export function cpuMs(pid) {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").replace(/^.*\) /, "").split(" ");
  return ((Number(fields[11]) + Number(fields[12])) * 1000) / TICKS_PER_SECOND;
}

/** Resident memory of a process in megabytes (Linux). */
export function rssMb(pid) {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))[1]) / 1024;
}

export function median(values) {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)];
}
