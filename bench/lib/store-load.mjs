// A real Redis, and a client of hubs with a shared store. It sends each request to a given port.
import { spawn } from "node:child_process";
import { Agent, request } from "node:http";
import { freePort } from "../../scripts/free-port.mjs";

/** Maximum number of concurrent requests. */
export const CALLERS = 16;
const REVISION = "2025-11-25";

/** Starts Redis on a free port, without files. `stop` kills it. */
export async function startRedis() {
  const port = await freePort();
  const child = spawn("redis-server", ["--port", String(port), "--bind", "127.0.0.1", "--save", ""], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  for await (const chunk of child.stdout) if (String(chunk).includes("Ready to accept connections")) break;
  return { url: `redis://127.0.0.1:${port}`, pid: child.pid, stop: () => child.kill("SIGKILL") };
}

/** Creates the connections to all hubs. Its user must destroy them. */
export const createAgent = () => new Agent({ keepAlive: true, maxSockets: CALLERS });

/** Posts a JSON-RPC message to `/mcp` of a hub. Resolves with the headers and the text of the response. */
export function post({ port, agent }, message, headers = {}) {
  return new Promise((resolve, reject) => {
    const body = JSON.stringify({ jsonrpc: "2.0", ...message });
    const all = {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      "content-length": Buffer.byteLength(body),
      ...headers,
    };
    const sent = request({ agent, host: "127.0.0.1", port, path: "/mcp", method: "POST", headers: all }, (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (chunk) => (text += chunk));
      response.on("end", () => resolve({ headers: response.headers, text }));
    });
    sent.on("error", reject);
    sent.end(body);
  });
}

/** Opens a legacy session. Resolves with the headers of its further requests. */
export async function openSession(hub, headers = {}) {
  const params = { protocolVersion: REVISION, capabilities: {}, clientInfo: { name: "bench", version: "1" } };
  const opened = await post(hub, { id: 1, method: "initialize", params }, headers);
  const own = { "mcp-session-id": opened.headers["mcp-session-id"], "mcp-protocol-version": REVISION, ...headers };
  await post(hub, { method: "notifications/initialized" }, own);
  return own;
}

/** Runs `work` with the numbers from 0 to `count - 1`, up to `CALLERS` of them concurrently. */
export async function inParallel(count, work) {
  let next = 0;
  const caller = async () => {
    while (next < count) await work(next++);
  };
  await Promise.all(Array.from({ length: CALLERS }, caller));
}
