// Resources after hundreds of sessions, subscriptions, server requests and broken connections: the hub holds as many as
// before.
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, test } from "vitest";
import { connect } from "node:net";
import { standardHeaders } from "../../packages/toolyard/src/wire/modern/headers.ts";
import { initialize, JSON_HEADERS, openTarget, openUpstream, rpc, tool, type Target } from "./attack.ts";

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

const ENVELOPE = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientCapabilities": { elicitation: {} },
  "io.modelcontextprotocol/clientInfo": { name: "x", version: "1" },
};

async function abuse(target: Target, rounds: number): Promise<void> {
  for (let round = 0; round < rounds; round += 1) {
    const opened = await target.send({ headers: JSON_HEADERS, body: initialize() });
    const headers = { ...JSON_HEADERS, "mcp-session-id": String(opened.headers["mcp-session-id"]) };
    await target.send({ headers, body: rpc("resources/subscribe", { uri: "doc://a" }, 2) });
    await target.send({ headers, body: rpc("tools/call", { name: `unknown-${round}-${"x".repeat(200)}` }, 3) });
    await target.send({ method: "DELETE", headers });
    // Begins a subscription, and a call with a server request; the caller abandons both.
    for (const [method, params] of [
      ["subscriptions/listen", { notifications: { toolsListChanged: true, resourceSubscriptions: ["doc://a"] } }],
      ["tools/call", { name: "up__ask", arguments: { round } }],
    ] as const) {
      const full = { ...params, _meta: ENVELOPE };
      await target.send({
        headers: { ...JSON_HEADERS, ...standardHeaders(method, full) },
        body: rpc(method, full, round),
      });
    }
    // Sends half of a request.
    await new Promise<void>((resolve) => {
      const socket = connect(target.port, "127.0.0.1", () =>
        socket.end(
          "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{",
        ),
      );
      socket
        .resume()
        .once("close", () => resolve())
        .once("error", () => resolve());
    });
  }
}

test("S4: ended sessions, subscriptions, server requests and broken requests leave nothing behind", async () => {
  await using upstream = await openUpstream({
    capabilities: { tools: {}, resources: { subscribe: true }, logging: {} },
    tools: [tool("ask")],
    resources: [{ uri: "doc://a", name: "a" }],
    answer: (method, _params, { response, id }) => {
      if (method !== "tools/call") return undefined;
      response.writeHead(200, { "content-type": "text/event-stream" });
      const params = { message: "?", requestedSchema: { type: "object", properties: {} } };
      const asking = { jsonrpc: "2.0", id: `ask-${id}`, method: "elicitation/create", params };
      response.write(`data: ${JSON.stringify(asking)}\n\n`);
      return undefined;
    },
  });
  // Unanswered server requests time out soon, so that a leak becomes visible.
  await using target = await openTarget({
    server: { port: 0, input_timeout: "50ms" },
    limits: { rate_per_minute: 0 },
    logging: { level: "error" },
    mcp: { remote_servers: [{ namespace: "up", url: upstream.url }] },
  });
  await target.hub.list();
  const heapAfter = async (rounds: number): Promise<number> => {
    await abuse(target, rounds);
    await new Promise((resolve) => void setTimeout(resolve, 300));
    collect();
    return process.memoryUsage().heapUsed;
  };
  await heapAfter(30);
  const before = await heapAfter(30);
  const after = await heapAfter(120);
  // A session takes some kilobytes: if all were kept, the heap would grow far beyond this.
  expect(after - before).toBeLessThan(3_000_000);
  expect(upstream.received.filter(({ method }) => method === "resources/subscribe").length).toBeGreaterThan(0);
});
