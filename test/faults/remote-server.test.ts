// Faults of a server on HTTP, seen through the whole hub.
import type { ServerResponse } from "node:http";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { WITHOUT_WAITING_MS } from "../fixtures/cpu-time.ts";
import {
  readJson,
  sendJson,
  startLegacy,
  startServer,
  startSse,
  type RunningServer,
} from "../fixtures/http-servers.ts";
import { FaultHub } from "./fault-hub.ts";

const LIST_CHANGED = "notifications/tools/list_changed";

/** Returns a port that was free a moment ago. */
async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise<void>((resolve) => void server.close(() => resolve()));
  return port;
}

const remote = (url: string, more: object = {}) => ({ alias: "bad", namespace: "bad", url, ...more });

type Answer = (response: ServerResponse, id: number | undefined) => void;

/** Starts a legacy server, without the SDK and sessions, whose tool `odd` answers as the test decides. */
async function startOdd(answer: Answer): Promise<RunningServer> {
  return startServer(async (request, response) => {
    if (request.method !== "POST") return void response.writeHead(405).end();
    const { id, method, params } = await readJson(request);
    const result = (value: object): void => sendJson(response, 200, { jsonrpc: "2.0", id, result: value });
    if (method === "initialize")
      return result({
        protocolVersion: "2025-06-18",
        capabilities: { tools: {} },
        serverInfo: { name: "odd", version: "1" },
      });
    if (id === undefined) return void response.writeHead(202).end();
    if (method === "tools/list")
      return result({ tools: ["odd", "fine"].map((name) => ({ name, inputSchema: { type: "object" } })) });
    if (method !== "tools/call")
      return sendJson(response, 200, { jsonrpc: "2.0", id, error: { code: -32601, message: "Method not found" } });
    if (params?.["name"] === "fine") return result({ content: [{ type: "text", text: "fine" }] });
    answer(response, id);
  });
}

test.each([
  ["Streamable HTTP", (options: { listChanged: boolean }) => startLegacy(options)],
  ["HTTP+SSE", (options: { listChanged: boolean }) => startSse(options)],
])("passes on list changes of a server on %s that does not declare them", async (_, start) => {
  await using server = await start({ listChanged: false });
  await using hub = await FaultHub.open({ remote: [remote(server.url)] });
  expect(await hub.text("bad__echo", { text: "before" })).toBe("before");
  const announced = hub.client.next(LIST_CHANGED);
  expect(await hub.text("bad__grow")).toBe("grown");
  await announced;
  const { result } = await hub.client.call("tools/list", {});
  expect(JSON.stringify(result)).toContain("bad__grown-0");
});

test("names a server that refuses connections and the remedy, and serves it once it listens", async () => {
  const port = await freePort();
  await using hub = await FaultHub.open({ remote: [remote(`http://127.0.0.1:${port}/mcp`)] });
  expect(await hub.call("bad__echo", { text: "x" })).toMatchObject({
    kind: "unavailable",
    text: expect.stringContaining("source bad"),
  });
  await hub.expectRestUndisturbed();
  const line = await hub.log.warningOf("bad");
  expect(line.message).toMatch(/refused|reach|connect/i);
  expect(hub.status().state).toBe("down");

  const announced = hub.client.next(LIST_CHANGED);
  await using _server = await startLegacy({ port });
  await announced;
  expect(await hub.text("bad__echo", { text: "here" })).toBe("here");
  await hub.expectRestUndisturbed();
});

test("serves a restarted server again; meanwhile calls report it and its tools stay listed", async () => {
  const first = await startLegacy();
  await using hub = await FaultHub.open({ remote: [remote(first.url)] });
  expect(await hub.text("bad__echo", { text: "1" })).toBe("1");
  await first.close();
  expect(await hub.call("bad__echo", { text: "2" })).toMatchObject({ kind: "unavailable" });
  expect(await hub.toolNames()).toContain("bad__echo");
  await hub.expectRestUndisturbed();
  expect(hub.log.warnings("bad")).not.toEqual([]);
  await using _second = await startLegacy({ port: first.port });
  await expect
    .poll(() => hub.call("bad__echo", { text: "3" }), { interval: 100 })
    .toMatchObject({ text: "3", kind: undefined });
});

test.each<[string, Answer, string]>([
  ["cuts the connection during a call", (response) => void response.destroy(), "unavailable"],
  [
    "cuts its answer in the middle",
    (response, id) =>
      void (response
        .writeHead(200, { "content-type": "application/json", "content-length": 1000 })
        .write(`{"jsonrpc":"2.0","id":${id},`),
      setImmediate(() => response.destroy())),
    "unavailable",
  ],
  [
    "answers with a web page",
    (response) => void response.writeHead(200, { "content-type": "text/html" }).end("<h1>Hello</h1>"),
    "malformed",
  ],
  [
    "answers half a message",
    (response, id) =>
      void response.writeHead(200, { "content-type": "application/json" }).end(`{"jsonrpc":"2.0","id":${id},"result":`),
    "malformed",
  ],
  [
    "answers for another request",
    (response, id) => sendJson(response, 200, { jsonrpc: "2.0", id: Number(id) + 1000, result: { content: [] } }),
    "malformed",
  ],
  ["answers 500", (response) => sendJson(response, 500, { error: "no" }), "unavailable"],
  [
    "answers 50 MB",
    (response, id) =>
      sendJson(response, 200, {
        jsonrpc: "2.0",
        id,
        result: { content: [{ type: "text", text: "b".repeat(50_000_000) }] },
      }),
    "too_large",
  ],
  ["never answers", () => {}, "timeout"],
])("a server that %s gives its caller an answer, and serves the next call", async (_what, answer, kind) => {
  await using server = await startOdd(answer);
  await using hub = await FaultHub.open({
    remote: [remote(server.url, { timeout: kind === "timeout" ? "400ms" : "10s" })],
  });
  const [odd] = await Promise.all([hub.call("bad__odd"), hub.expectRestUndisturbed()]);
  expect(odd.kind, odd.text).toBe(kind);
  expect(odd.text.length).toBeLessThan(1000);
  expect(odd.elapsedMs).toBeLessThan(WITHOUT_WAITING_MS);
  expect(hub.log.failedCalls()).toMatchObject([{ source: "bad", kind }]);
  expect(await hub.text("bad__fine")).toBe("fine");
  await hub.expectRestUndisturbed();
});
