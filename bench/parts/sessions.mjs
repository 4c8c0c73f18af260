// The memory of idle legacy sessions, and whether abandoned ones leave processes.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { Agent, request } from "node:http";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { root } from "../lib/hub.mjs";

const GOALS = { session: "12 KB each at 5,000" };

export async function measureSessions({ quick, folder, report }) {
  const hub = await startSessionHub(folder());
  const agent = new Agent({ keepAlive: true, maxSockets: 16 });
  try {
    // The first sessions load code and fill caches, whose memory does not belong to sessions.
    await openSessions(hub.url, agent, { count: 200, calls: true });
    const before = await hub.look();
    const count = quick ? 1000 : 5000;
    await openSessions(hub.url, agent, { count, calls: false });
    const idle = await hub.look();
    report(
      `${count} idle legacy sessions`,
      `${((idle.heapBytes - before.heapBytes) / count / 1024).toFixed(1)} KB each`,
      GOALS.session,
    );
    await openSessions(hub.url, agent, { count: 1000, calls: true });
    const after = await hub.look();
    report(
      "1000 sessions that called a stdio server and were abandoned",
      `${before.children} → ${after.children} child processes`,
      "no more",
    );
    return { bytesEach: (idle.heapBytes - before.heapBytes) / count, children: [before.children, after.children] };
  } finally {
    agent.destroy();
    hub.stop();
  }
}

export async function startSessionHub(home) {
  const child = spawn(process.execPath, [join(root, "bench/servers/session-hub.mjs"), home], {
    stdio: ["ignore", "pipe", "inherit", "ipc"],
  });
  const [port] = await once(createInterface({ input: child.stdout }), "line");
  const look = async () => {
    child.send("look");
    return (await once(child, "message"))[0];
  };
  return { url: `http://127.0.0.1:${port}/mcp`, look, stop: () => child.kill("SIGKILL") };
}

/** Opens sessions as clients do, some at a time, and abandons them. `calls`: each session calls a tool before. */
export async function openSessions(url, agent, { count, calls }) {
  let begun = 0;
  const one = async () => {
    while (begun++ < count) {
      const post = (body, headers) => send(url, body, { agent, headers });
      const { headers } = await post({
        id: 1,
        method: "initialize",
        params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "bench", version: "1" } },
      });
      const session = { "mcp-session-id": headers["mcp-session-id"], "mcp-protocol-version": "2025-11-25" };
      await post({ method: "notifications/initialized" }, session);
      if (calls)
        await post(
          { id: 2, method: "tools/call", params: { name: "child__echo", arguments: { text: "hi" } } },
          session,
        );
      else await post({ id: 2, method: "tools/list" }, session);
    }
  };
  await Promise.all(Array.from({ length: 16 }, one));
}

function send(url, message, { agent, headers = {} }) {
  return new Promise((resolve, reject) => {
    const always = { "content-type": "application/json", accept: "application/json, text/event-stream" };
    const outgoing = request(url, { method: "POST", agent, headers: { ...always, ...headers } }, (response) => {
      const chunks = [];
      response.on("data", (chunk) => chunks.push(chunk));
      response.on("end", () => {
        const text = Buffer.concat(chunks).toString();
        if (response.statusCode >= 300 || text.includes('"error"'))
          reject(new Error(`${response.statusCode} ${text.slice(0, 300)}`));
        else resolve({ headers: response.headers });
      });
    });
    outgoing.on("error", reject);
    outgoing.end(JSON.stringify({ jsonrpc: "2.0", ...message }));
  });
}
