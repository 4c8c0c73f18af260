// A hub that is killed or ends: another hub continues its sessions.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import type { JsonObject } from "../../packages/toolyard/src/core/json/json.ts";
import { HAS_REDIS, RedisServer } from "../support/redis-server.ts";
import { askModern, inTurn, LegacyClient, messagesOf, textOf, type SseMessage } from "./clients.ts";
import { Cluster, type HubProcess } from "./hub-process.ts";

const WAIT = { timeout: 15_000, interval: 20 };
const TOKENS = { ada: { token: "token-of-ada-1" }, bob: { token: "token-of-bob-2" } };

let redis: RedisServer;
let cluster: Cluster;
let first: HubProcess;
let second: HubProcess;

beforeAll(async () => {
  if (!HAS_REDIS) return;
  redis = await RedisServer.start();
  const config = { server: { tokens: TOKENS } };
  cluster = await Cluster.start({ hubs: 2, store: { url: redis.url }, config });
  [first, second] = cluster.hubs as [HubProcess, HubProcess];
});

beforeEach(({ skip }) => skip(!HAS_REDIS, "Redis is not on this machine"));

afterEach(async () => {
  for (const hub of cluster?.hubs ?? []) if (hub.pid === undefined) await hub.start();
});

afterAll(async () => {
  await cluster?.[Symbol.asyncDispose]();
  await redis?.[Symbol.asyncDispose]();
});

/** Opens a session at the first hub. Later requests go to `urlOf`. */
async function openAtFirst(token = TOKENS.ada.token): Promise<LegacyClient & { at: HubProcess }> {
  const place = { at: first };
  const client = await LegacyClient.open(() => place.at.url, { elicitation: {} }, token);
  const set = (hub: HubProcess): void => {
    place.at = hub;
  };
  return Object.defineProperty(client, "at", { set }) as never;
}

async function countOf(key: string): Promise<number> {
  return (await cluster.counts()).get(key) ?? 0;
}

describe("a hub that is killed", () => {
  test("leaves its session with its id to the hub that gets the next request", async () => {
    const client = await openAtFirst();
    const id = client.session;
    await first.stop();
    client.at = second;
    const answer = await client.post({
      id: 7,
      method: "tools/call",
      params: { name: "echo", arguments: { key: "a" } },
    });
    expect([answer.status, answer.headers.get("mcp-session-id")]).toEqual([200, id]);
    expect(await answer.text()).toContain("echo a");
  });

  test("leaves its session once, although many requests arrive at the same time", async () => {
    const client = await openAtFirst();
    await first.stop();
    client.at = second;
    const answers = await Promise.all(Array.from({ length: 20 }, (_, at) => client.call("echo", { key: `n${at}` })));
    expect(answers.map((messages) => textOf(messages.at(-1)))).toEqual(answers.map((_, at) => `echo n${at}`));
    expect(second.log.match(/was taken over/g)?.length).toBeGreaterThan(0);
  });

  test("leaves subscriptions and client capabilities", async () => {
    const client = await openAtFirst();
    await client.request("resources/subscribe", { uri: "test://thing" });
    await first.stop();
    client.at = second;
    const params = { name: "greet", arguments: { key: "capable" } };
    const messages: JsonObject[] = [];
    for await (const { message } of messagesOf(await client.post({ id: 5, method: "tools/call", params }))) {
      messages.push(message);
      const result = { action: "accept", content: { name: "Ada" } };
      if (message["method"] === "elicitation/create") await client.post({ id: message["id"], result });
    }
    expect(textOf(messages.at(-1))).toBe("Hello Ada, capable");
    const leaving = new AbortController();
    const stream = messagesOf(await client.get(undefined, { signal: leaving.signal }));
    await client.call("touch", {});
    expect((await stream.next()).value?.message["method"]).toBe("notifications/resources/updated");
    leaving.abort();
  });

  test("leaves the events of its standing stream after the last one that the client has", async () => {
    const client = await openAtFirst();
    await client.request("resources/subscribe", { uri: "test://thing" });
    const stream = messagesOf(await client.get());
    const events: SseMessage[] = [];
    for (let at = 0; at < 3; at += 1) {
      await client.call("touch", {});
      events.push((await stream.next()).value as SseMessage);
    }
    await first.stop();
    client.at = second;
    const leaving = new AbortController();
    const resumed = messagesOf(await client.get(events[0]!.id, { signal: leaving.signal }));
    const again = [(await resumed.next()).value, (await resumed.next()).value];
    expect(again).toEqual(events.slice(1));
    await client.call("touch", {});
    expect((await resumed.next()).value?.message["method"]).toBe("notifications/resources/updated");
    leaving.abort();
  });

  test("leaves a running call, whose stream ends with one error that permits a retry", async () => {
    const client = await openAtFirst();
    const params = { name: "wait", arguments: { key: "w" }, _meta: { progressToken: "t" } };
    const stream = messagesOf(await client.post({ id: 77, method: "tools/call", params }));
    const { id } = (await stream.next()).value as SseMessage;
    await first.stop();
    client.at = second;
    for (let at = 0; at < 2; at += 1) {
      const messages: SseMessage[] = [];
      for await (const message of messagesOf(await client.get(id))) messages.push(message);
      expect(messages.map(({ message }) => message)).toMatchObject([
        { id: 77, error: { data: { reason: "hub_lost", retryable: true } } },
      ]);
    }
    expect(await countOf("start w")).toBe(1);
  });

  test("a call that was passed to it ends with an error, unless the tool is idempotent", async () => {
    const client = await openAtFirst();
    client.at = second;
    const [lost, repeated] = [client.call("wait", { key: "x" }), client.call("pause", { key: "y" })];
    await vi.waitFor(async () => expect([await countOf("start x"), await countOf("start y")]).toEqual([1, 1]), WAIT);
    await first.stop();
    expect((await lost).at(-1)).toMatchObject({ error: { data: { reason: "hub_lost", retryable: true } } });
    expect(textOf((await repeated).at(-1))).toBe("paused y");
    expect([await countOf("start x"), await countOf("start y")]).toEqual([1, 2]);
  });

  test("loses a modern call that waited for input, which is reported once and was not executed", async () => {
    const bearer = { authorization: `Bearer ${TOKENS.ada.token}` };
    const call = { name: "greet", arguments: { key: "lost" } };
    const asked = (await askModern(first.url, "tools/call", call, bearer)).at(-1)!["result"] as JsonObject;
    await first.stop();
    const [key] = Object.keys(asked["inputRequests"] as JsonObject);
    const answers = { [key!]: { action: "accept", content: { name: "Bob" } } };
    const retry = { ...call, requestState: asked["requestState"], inputResponses: answers };
    expect((await askModern(second.url, "tools/call", retry, bearer)).at(-1)).toMatchObject({
      error: { data: { reason: "hub_lost", retryable: true } },
    });
    expect(await countOf("lost")).toBe(0);
  });

  test("leaves no session to another principal", async () => {
    const client = await openAtFirst();
    await first.stop();
    client.at = second;
    client.headers["authorization"] = `Bearer ${TOKENS.bob.token}`;
    for (const send of [() => client.post({ id: 3, method: "ping" }), () => client.get(), () => client.delete()])
      expect((await send()).status).toBe(404);
    client.headers["authorization"] = `Bearer ${TOKENS.ada.token}`;
    expect((await client.post({ id: 3, method: "ping" })).status).toBe(200);
  });

  test("gets requests of a session that moved, and passes them to the new hub after its restart", async () => {
    const client = await openAtFirst();
    await first.stop();
    client.at = second;
    await client.call("echo", { key: "moved" });
    await first.start();
    const moved = LegacyClient.continue(client, inTurn([first.url, second.url]));
    for (let at = 0; at < 4; at += 1)
      expect(textOf((await moved.call("echo", { key: `r${at}` })).at(-1))).toBe(`echo r${at}`);
  });
});

describe("a hub that ends after SIGTERM", () => {
  test("hands its sessions over and answers its running calls", async () => {
    const [idle, busy] = [await openAtFirst(), await openAtFirst()];
    const running = busy.call("pause", { key: "draining" });
    await vi.waitFor(async () => expect(await countOf("start draining")).toBe(1), WAIT);
    const ended = first.stop("SIGTERM");
    idle.at = second;
    expect(textOf((await idle.call("echo", { key: "handed" })).at(-1))).toBe("echo handed");
    expect(textOf((await running).at(-1))).toBe("paused draining");
    await ended;
    busy.at = second;
    expect(textOf((await busy.call("echo", { key: "later" })).at(-1))).toBe("echo later");
    expect(await countOf("start draining")).toBe(1);
  });

  test("receives the answer to an elicitation of a running call through another hub", async () => {
    const client = await openAtFirst();
    const params = { name: "greet", arguments: { key: "asked" } };
    const stream = messagesOf(await client.post({ id: 6, method: "tools/call", params }));
    const question = (await stream.next()).value as SseMessage;
    const ended = first.stop("SIGTERM");
    client.at = second;
    const result = { action: "accept", content: { name: "Eve" } };
    expect((await client.post({ id: question.message["id"], result })).status).toBe(202);
    expect(textOf((await stream.next()).value?.message)).toBe("Hello Eve, asked");
    await ended;
  });
});
