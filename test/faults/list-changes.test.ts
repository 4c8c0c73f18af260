// Servers that announce changes of their lists: too often, without a change, or before they hang.
import type { ServerResponse } from "node:http";
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { CallToolRequestSchema, ListToolsRequestSchema } from "@modelcontextprotocol/sdk/types.js";
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
import { HttpWire } from "../fixtures/raw/http-wire.ts";
import { RawClient } from "../fixtures/raw/raw-client.ts";
import { fixture } from "../fixtures/upstreams/harness.ts";
import { FaultHub } from "./fault-hub.ts";

const LIST_CHANGED = "notifications/tools/list_changed";
/**
 * Maximum number of list requests until the hub reports a server that announces changes endlessly, including some that
 * clients cause.
 */
const MAX_READINGS = 12;
const WITHOUT_END = "announces changes of its lists without end";

const restless = (...flags: readonly string[]) => ({ command: [process.execPath, fixture("restless"), ...flags] });

/** Waits until the hub reports that `bad` announces changes endlessly. */
async function expectReported({ hub }: FaultHub): Promise<void> {
  const problems = () => hub.sources().find(({ source }) => source.id === "bad")!.problems;
  await expect
    .poll(
      () =>
        problems()
          .map(({ message }) => message)
          .join(),
      { timeout: 20_000 },
    )
    .toContain(WITHOUT_END);
}

async function expectBounded(hub: FaultHub, lists: () => Promise<number>): Promise<void> {
  await expectReported(hub);
  expect(await lists()).toBeLessThanOrEqual(MAX_READINGS);
  expect(hub.changesHeard()).toBeLessThanOrEqual(MAX_READINGS);
  expect(hub.log.warnings("bad").filter((line) => line.includes(WITHOUT_END))).toHaveLength(1);
  expect(hub.log.warnings("bad").length).toBeLessThanOrEqual(5);
  await hub.expectRestUndisturbed();
}

test.each([
  ["legacy, during each reading", ["during"]],
  ["legacy, after each reading", ["after"]],
  ["legacy, during and after each reading, of all its lists", ["during", "after", "all"]],
  ["legacy, with another definition each time", ["during", "new"]],
  ["modern, during each reading", ["modern", "during"]],
  ["modern, after each reading, with another definition each time", ["modern", "after", "new"]],
  ["modern, of all its lists", ["modern", "during", "all"]],
])("waits longer after each reading of a stdio server that announces changes endlessly (%s)", async (_how, flags) => {
  await using hub = await FaultHub.open({ bad: restless(...flags) });
  await expectBounded(hub, async () => Number(await hub.text("bad__lists")));
});

/** Creates a server of the SDK that announces a change at each request for its tools. */
function buildRestless(count: () => void): Server {
  const server = new Server({ name: "r", version: "1" }, { capabilities: { tools: { listChanged: true } } });
  server.setRequestHandler(ListToolsRequestSchema, async () => {
    count();
    await server.sendToolListChanged();
    return { tools: [{ name: "t", inputSchema: { type: "object" } }] };
  });
  server.setRequestHandler(CallToolRequestSchema, () => ({ content: [] }));
  return server;
}

test("waits longer after each reading of a Streamable HTTP server that announces changes endlessly", async () => {
  let lists = 0;
  await using server = await startLegacy({ build: () => buildRestless(() => (lists += 1)) });
  await using hub = await FaultHub.open({ remote: [{ alias: "bad", url: server.url }] });
  await expectBounded(hub, () => Promise.resolve(lists));
  expect(server.seen.length).toBeLessThanOrEqual(2 * MAX_READINGS);
});

/** Starts a handwritten server of the modern era on HTTP. */
async function startModernRestless(count: () => void): Promise<RunningServer> {
  const id = "io.modelcontextprotocol/subscriptionId";
  let announce = (): void => {};
  return startServer(async (request, response: ServerResponse) => {
    const message = await readJson(request);
    const result = (value: object): void =>
      sendJson(response, 200, {
        jsonrpc: "2.0",
        id: message.id,
        result: { resultType: "complete", ttlMs: 60_000, cacheScope: "public", ...value },
      });
    if (message.method === "server/discover")
      return result({ supportedVersions: ["2026-07-28"], capabilities: { tools: { listChanged: true } } });
    if (message.method === "tools/list") {
      count();
      announce();
      return result({ tools: [{ name: "t", inputSchema: { type: "object" } }] });
    }
    if (message.method !== "subscriptions/listen") return void response.writeHead(202).end();
    const send = (method: string, params: object): void => {
      const data = { jsonrpc: "2.0", method, params: { ...params, _meta: { [id]: message.id } } };
      response.write(`event: message\ndata: ${JSON.stringify(data)}\n\n`);
    };
    response.writeHead(200, { "content-type": "text/event-stream" });
    send("notifications/subscriptions/acknowledged", { notifications: { toolsListChanged: true } });
    announce = () => send(LIST_CHANGED, {});
    announce();
  });
}

test("waits longer after each reading of a modern HTTP server that announces changes endlessly", async () => {
  let lists = 0;
  await using server = await startModernRestless(() => (lists += 1));
  await using hub = await FaultHub.open({ remote: [{ alias: "bad", url: server.url }] });
  await expectBounded(hub, () => Promise.resolve(lists));
});

test("a client that lists the tools at each notification does not shorten the waits of the hub", async () => {
  await using hub = await FaultHub.open({ bad: restless("during", "new") });
  const stop = new AbortController();
  const eager = (async () => {
    for (let seen = 0; !stop.signal.aborted;) {
      await expect.poll(() => stop.signal.aborted || hub.changesHeard() > seen, { timeout: 60_000 }).toBe(true);
      seen = hub.changesHeard();
      await hub.toolNames();
    }
  })();
  await expectReported(hub);
  expect(Number(await hub.text("bad__lists"))).toBeLessThanOrEqual(MAX_READINGS);
  stop.abort();
  await eager;
});

test("removes the report about a server once the server stops announcing changes", async () => {
  await using hub = await FaultHub.open({ bad: restless("during", "calm-after=5") });
  await expectReported(hub);
  const problems = () => hub.hub.sources().find(({ source }) => source.id === "bad")!.problems;
  await expect.poll(problems, { timeout: 30_000 }).toEqual([]);
  expect(hub.status().state).toBe("ready");
});

test("clients of both eras are notified of an announced change, even if the list is the same", async () => {
  await using hub = await FaultHub.open({ bad: restless() });
  const { endpoint } = await hub.hub.serve();
  await using modern = await RawClient.open(new HttpWire(endpoint, "modern"), { era: "modern" });
  const listening = modern.request("subscriptions/listen", { notifications: { toolsListChanged: true } });
  await modern.next("notifications/subscriptions/acknowledged");
  const before = await hub.toolNames();
  const legacyHeard = hub.client.next(LIST_CHANGED);
  const modernHeard = modern.next(LIST_CHANGED);
  expect(await hub.text("bad__announce")).toBe("announced");
  await Promise.all([legacyHeard, modernHeard]);
  expect(await hub.toolNames()).toEqual(before);
  expect(hub.changesHeard()).toBe(1);
  listening.catch(() => {});
});

test("passes on an announcement of a server of the SDK on HTTP+SSE, although its list did not change", async () => {
  await using server = await startSse();
  await using hub = await FaultHub.open({ remote: [{ alias: "bad", url: server.url }] });
  const heard = hub.client.next(LIST_CHANGED);
  await hub.text("bad__grow");
  await heard;
});

test.each([
  ["legacy", []],
  ["modern", ["modern"]],
])("a %s server that announces a change and hangs does not delay another client's list", async (_era, flags) => {
  await using hub = await FaultHub.open({ bad: restless(...flags) });
  const { endpoint } = await hub.hub.serve();
  await using other = await RawClient.open(new HttpWire(endpoint, "legacy"), { era: "legacy" });
  await hub.toolNames();
  const heard = hub.log.until(({ message }) => message.includes("hangs"));
  void hub.client.request("tools/call", { name: "bad__hang", arguments: {} }).catch(() => {});
  void heard.catch(() => {});
  for (let round = 0; round < 5; round += 1) {
    const startedAt = performance.now();
    expect((await other.list("tools/list", "tools")).length).toBeGreaterThan(3);
    expect(performance.now() - startedAt).toBeLessThan(WITHOUT_WAITING_MS);
  }
});
