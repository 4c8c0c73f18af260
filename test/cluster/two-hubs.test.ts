// Two hubs with one store: each request of a session or call goes to the other hub.
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import type { JsonObject } from "../../packages/toolyard/src/core/json/json.ts";
import { HAS_REDIS, RedisServer } from "../support/redis-server.ts";
import { askModern, inTurn, LegacyClient, messagesOf, postModern, textOf } from "./clients.ts";
import { Cluster } from "./hub-process.ts";

const WAIT = { timeout: 15_000, interval: 20 };

describe.each([
  ["on one connection", { isReachable: true, workers: 1 }],
  // Workers refuse the one connection for all requests, so each request is sent over HTTP.
  ["as HTTP requests", { isReachable: true, workers: 2 }],
  ["through the store", { isReachable: false, workers: 1 }],
])("two hubs that pass requests %s", (how, { isReachable, workers }) => {
  let redis: RedisServer;
  let cluster: Cluster;
  let urls: readonly string[];

  beforeAll(async () => {
    if (!HAS_REDIS) return;
    redis = await RedisServer.start();
    const config = { server: { workers } };
    cluster = await Cluster.start({ hubs: 2, isReachable, store: { url: redis.url }, config });
    urls = cluster.hubs.map(({ url }) => url);
  });

  beforeEach(({ skip }) => skip(!HAS_REDIS, "Redis is not on this machine"));

  afterAll(async () => {
    await cluster?.[Symbol.asyncDispose]();
    await redis?.[Symbol.asyncDispose]();
  });

  test("a session answers calls at each hub", async () => {
    const client = await LegacyClient.open(inTurn(urls));
    for (let at = 0; at < 6; at += 1)
      expect(textOf((await client.call("echo", { key: `k${at}` })).at(-1))).toBe(`echo k${at}`);
    const pids = new Set<string>();
    for (let at = 0; at < 4; at += 1) pids.add(textOf((await client.call("pid", {})).at(-1)));
    expect(pids.size).toBe(1);
  });

  test("progress arrives in order before the result of a call at the other hub", async () => {
    const client = await LegacyClient.open(inTurn(urls));
    for (let at = 0; at < 2; at += 1) {
      const messages = await client.call("steps", { key: `p${at}` }, { progressToken: "t" });
      const steps = messages.slice(0, -1).map(({ params }) => (params as JsonObject)["progress"]);
      expect([steps, textOf(messages.at(-1))]).toEqual([[1, 2, 3, 4, 5], `done p${at}`]);
    }
  });

  test("an elicitation is answered through the other hub", async () => {
    const client = await LegacyClient.open(inTurn(urls));
    for (let at = 0; at < 2; at += 1) {
      const params = { name: "greet", arguments: { key: `e${at}` } };
      const response = await client.post({ id: client.nextId(), method: "tools/call", params });
      const messages: JsonObject[] = [];
      for await (const { message } of messagesOf(response)) {
        messages.push(message);
        if (message["method"] !== "elicitation/create") continue;
        const answer = { id: message["id"], result: { action: "accept", content: { name: "Ada" } } };
        expect((await client.post(answer)).status).toBe(202);
      }
      expect(textOf(messages.at(-1))).toBe(`Hello Ada, e${at}`);
    }
  });

  test("a notification of cancellation reaches the call at the other hub", async () => {
    const client = await LegacyClient.open(inTurn(urls));
    const id = client.nextId();
    const params = { name: "wait", arguments: { key: "c" }, _meta: { progressToken: "t" } };
    const response = await client.post({ id, method: "tools/call", params });
    const messages = messagesOf(response);
    await messages.next();
    await client.post({ method: "notifications/cancelled", params: { requestId: id } });
    await vi.waitFor(async () => expect((await cluster.counts()).get("cancelled c")).toBe(1), WAIT);
    await messages.return(undefined);
  });

  test("a standing stream at either hub receives the updates of a subscribed resource", async () => {
    const client = await LegacyClient.open(inTurn(urls));
    await client.request("resources/subscribe", { uri: "test://thing" });
    for (const url of urls) {
      const leaving = new AbortController();
      // The stream of the previous round may still be open at the hub that holds the session.
      const response = await vi.waitFor(async () => {
        const opened = await client.get(undefined, { url, signal: leaving.signal });
        expect(opened.status).toBe(200);
        return opened;
      }, WAIT);
      const messages = messagesOf(response);
      await client.call("touch", {});
      expect((await messages.next()).value?.message["method"]).toBe("notifications/resources/updated");
      leaving.abort();
      await vi.waitFor(async () => {
        const probe = new AbortController();
        const again = await client.get(undefined, { url, signal: probe.signal });
        probe.abort();
        expect(again.status).toBe(200);
      }, WAIT);
    }
  });

  test("DELETE at one hub ends the session at both", async () => {
    const client = await LegacyClient.open(inTurn(urls));
    expect((await client.delete()).status).toBe(200);
    for (const url of urls) expect((await client.post({ id: 9, method: "ping" }, { url })).status).toBe(404);
  });

  test("a modern call that waits for input continues at the other hub", async () => {
    for (const [at, url] of urls.entries()) {
      const call = { name: "greet", arguments: { key: `m${at}` } };
      const asked = (await askModern(url, "tools/call", call)).at(-1)!["result"] as JsonObject;
      const [key] = Object.keys(asked["inputRequests"] as JsonObject);
      const retry = {
        ...call,
        requestState: asked["requestState"],
        inputResponses: { [key!]: { action: "accept", content: { name: "Bob" } } },
      };
      const other = urls[1 - at]!;
      expect(textOf((await askModern(other, "tools/call", retry)).at(-1))).toBe(`Hello Bob, m${at}`);
      expect((await askModern(other, "tools/call", retry)).at(-1)).toMatchObject({
        error: { data: { reason: "invalid_request_state" } },
      });
    }
  });

  test("a modern subscription at one hub receives an update of a resource from the other hub", async () => {
    const leaving = new AbortController();
    const params = { notifications: { resourceSubscriptions: ["test://thing"] } };
    const stream = messagesOf(await postModern(urls[0]!, "subscriptions/listen", params, { signal: leaving.signal }));
    await stream.next();
    await askModern(urls[1]!, "tools/call", { name: "touch", arguments: {} });
    expect((await stream.next()).value?.message).toMatchObject({
      method: "notifications/resources/updated",
      params: { uri: "test://thing" },
    });
    leaving.abort();
  });

  test("a modern caller that disconnects cancels the continued call at the other hub", async () => {
    const leaving = new AbortController();
    const params = { name: "wait", arguments: { key: `d ${how}` }, _meta: { progressToken: "t" } };
    const response = await postModern(urls[0]!, "tools/call", params, { signal: leaving.signal });
    const messages = messagesOf(response);
    await messages.next();
    leaving.abort();
    await vi.waitFor(async () => expect((await cluster.counts()).get(`cancelled d ${how}`)).toBe(1), WAIT);
  });
});

test("a stream that is passed through the store is closed if the store is lost, and the session continues", async ({
  skip,
}) => {
  skip(!HAS_REDIS, "Redis is not on this machine");
  await using redis = await RedisServer.start();
  await using cluster = await Cluster.start({ hubs: 2, isReachable: false, store: { url: redis.url } });
  const [first, second] = cluster.hubs.map(({ url }) => url) as [string, string];
  const client = LegacyClient.continue(await LegacyClient.open(() => first), () => second);
  const params = { name: "wait", arguments: { key: "lost" }, _meta: { progressToken: "t" } };
  const messages = messagesOf(await client.post({ id: client.nextId(), method: "tools/call", params }));
  expect((await messages.next()).value?.message["method"]).toBe("notifications/progress");
  await redis.kill();
  await redis.resume();
  await expect(messages.next()).rejects.toThrow("terminated");
  await vi.waitFor(async () => expect(textOf((await client.call("echo", { key: "on" })).at(-1))).toBe("echo on"), WAIT);
});
